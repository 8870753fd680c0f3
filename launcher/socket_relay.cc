#include "launcher/socket_relay.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace hvd {

void SocketRelay::Add(std::uint64_t connection, UniqueFd fd) {
  const int raw = fd.get();
  Socket& socket = sockets_[connection];
  socket.fd = std::move(fd);
  socket.readable = loop_.OnReadable(raw, [=, this] { Read(connection); });
  socket.writable = loop_.OnWritable(raw, [=, this] { Write(connection); });
  socket.writable->Pause();
}

void SocketRelay::Read(std::uint64_t connection) {
  Socket& socket = sockets_.at(connection);
  std::string bytes(kPiece, '\0');
  const ssize_t n = ::recv(socket.fd.get(), bytes.data(), bytes.size(), 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < 0) return Break(connection);
  if (n == 0) return SayEnd(connection, socket);
  bytes.resize(static_cast<std::size_t>(n));
  if (++socket.on_their_way == kWindow) socket.readable->Pause();
  send_({connection, std::move(bytes), false});
}

void SocketRelay::SayEnd(std::uint64_t connection, Socket& socket) {
  socket.readable.reset();
  socket.said_end = true;
  const bool done = socket.heard_end && socket.to_write.empty();
  if (done) sockets_.erase(connection);
  send_({connection, {}, true});
}

void SocketRelay::OnTaken(TunnelTaken taken) {
  const auto found = sockets_.find(taken.connection);
  if (found == sockets_.end() || found->second.on_their_way == 0) return;
  Socket& socket = found->second;
  if (socket.on_their_way-- == kWindow && socket.readable) {
    socket.readable->Resume();
  }
}

void SocketRelay::OnPiece(TunnelPiece piece) {
  const auto found = sockets_.find(piece.connection);
  if (found == sockets_.end()) return;
  Socket& socket = found->second;
  // It does not keep to the window, or goes on after its end.
  if (socket.heard_end || socket.to_write.size() >= kWindow) {
    return Break(piece.connection);
  }
  socket.heard_end = piece.end;
  if (!piece.bytes.empty()) socket.to_write.push_back(std::move(piece.bytes));
  Write(piece.connection);
}

void SocketRelay::Write(std::uint64_t connection) {
  Socket& socket = sockets_.at(connection);
  while (!socket.to_write.empty()) {
    const auto written = WriteSome(socket);
    if (!written) return Break(connection);
    socket.written += *written;
    if (socket.written < socket.to_write.front().size()) {
      return socket.writable->Resume();
    }
    socket.to_write.pop_front();
    socket.written = 0;
    taken_({connection});
  }
  socket.writable->Pause();
  if (!socket.heard_end) return;
  ::shutdown(socket.fd.get(), SHUT_WR);
  if (socket.said_end) sockets_.erase(connection);
}

std::optional<std::size_t> SocketRelay::WriteSome(Socket& socket) {
  const std::string& piece = socket.to_write.front();
  const ssize_t n = ::send(socket.fd.get(), piece.data() + socket.written,
                           piece.size() - socket.written, MSG_NOSIGNAL);
  if (n >= 0) return static_cast<std::size_t>(n);
  if (errno == EAGAIN || errno == EINTR) return 0;
  return std::nullopt;
}

// The other end is told, and what it still says is for nobody.
void SocketRelay::Break(std::uint64_t connection) {
  const bool said_end = sockets_.at(connection).said_end;
  sockets_.erase(connection);
  if (!said_end) send_({connection, {}, true});
}

}  // namespace hvd
