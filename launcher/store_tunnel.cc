#include "launcher/store_tunnel.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "base/acceptor.h"
#include "base/socket_address.h"
#include "rendezvous/peer_owner.h"

namespace hvd {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
// For somebody who is sent away to say what he came for, and hear the answer.
constexpr Duration kFarewell{2'000};
constexpr std::size_t kMaxFarewells = 64;

// Requests are small, and each waits for its answer.
void SendAtOnce(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Why the one at the other end may not come in.
std::optional<std::string> RefusalOf(PeerOwner& owners, int fd) {
  sockaddr_storage local{};
  sockaddr_storage peer{};
  socklen_t local_size = sizeof local;
  socklen_t peer_size = sizeof peer;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &local_size) !=
          0 ||
      ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) {
    return "it has hung up";
  }
  const Result<uid_t> owner = owners.Find(local, peer);
  if (!owner.ok()) return owner.error().message();
  if (owner.value() == ::geteuid()) return std::nullopt;
  return "unsigned requests are served to this job's user only, not to uid " +
         std::to_string(owner.value());
}

void Forbid(int fd, const std::string& why) {
  const std::string body = "authentication: " + why + '\n';
  const std::string answer =
      "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  // It fits into an empty socket; who is not there to hear it misses nothing.
  (void)!::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
  ::shutdown(fd, SHUT_WR);
}

class LoopbackEntrance : public StoreEntrance {
 public:
  LoopbackEntrance(EventLoop& loop, UniqueFd socket, Handlers handlers)
      : loop_(loop),
        handlers_(std::move(handlers)),
        relay_(loop, handlers_.send, handlers_.taken),
        acceptor_(loop, std::move(socket),
                  [this](UniqueFd fd) { Admit(std::move(fd)); }) {}

  std::uint16_t port() const override { return BoundPort(acceptor_.fd()); }
  void OnPiece(TunnelPiece piece) override { relay_.OnPiece(std::move(piece)); }
  void OnTaken(TunnelTaken taken) override { relay_.OnTaken(taken); }

 private:
  void Admit(UniqueFd fd) {
    if (relay_.size() >= kMaxConnections) return;
    if (const auto why = RefusalOf(owners_, fd.get())) {
      if (++refusals_ <= kMaxRefusalsSaid) handlers_.refused(*why);
      return SendAway(std::move(fd), *why);
    }
    SendAtOnce(fd.get());
    // Its first word may come after that of a later one.
    handlers_.send({++last_, {}, false});
    relay_.Add(last_, std::move(fd));
  }

  // Closing at once would reset the connection under a request that is still on
  // its way, and the answer would be lost with it.
  void SendAway(UniqueFd fd, const std::string& why) {
    Forbid(fd.get(), why);
    if (farewells_.size() >= kMaxFarewells)
      farewells_.erase(farewells_.begin());
    const int raw = fd.get();
    const int id = refusals_;
    Farewell& farewell = farewells_[id];
    farewell.fd = std::move(fd);
    farewell.patience =
        loop_.After(kFarewell, [this, id] { farewells_.erase(id); });
    farewell.readable = loop_.OnReadable(raw, [this, id, raw] {
      std::array<char, 4096> ignored;
      if (::recv(raw, ignored.data(), ignored.size(), 0) <= 0) {
        farewells_.erase(id);
      }
    });
  }

  struct Farewell {
    UniqueFd fd;
    std::unique_ptr<Timer> patience;
    std::unique_ptr<FdWatch> readable;  // ends before the descriptor
  };

  EventLoop& loop_;
  Handlers handlers_;
  SocketRelay relay_;
  PeerOwner owners_;
  std::map<int, Farewell> farewells_;
  std::uint64_t last_ = 0;
  int refusals_ = 0;
  Acceptor acceptor_;
};

// To a listener of this very process, so it does not wait for the other end.
Result<UniqueFd> DialOwnLoopback(std::uint16_t port) {
  const auto address = ParseSocketAddress(kLoopback, port);
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return Error::FromErrno("socket", errno);
  if (::connect(fd.get(), address->get(), address->size) != 0 &&
      errno != EINPROGRESS) {
    return Error::FromErrno("connect", errno);
  }
  SendAtOnce(fd.get());
  return fd;
}

}  // namespace

Result<std::unique_ptr<StoreEntrance>> StoreEntrance::Open(
    EventLoop& loop, const PortRange& ports, Handlers handlers) {
  Result<UniqueFd> socket = ListenInRange(kLoopback, ports, "store entrance");
  if (!socket.ok()) return std::move(socket).error();
  return std::unique_ptr<StoreEntrance>(std::make_unique<LoopbackEntrance>(
      loop, std::move(socket).value(), std::move(handlers)));
}

void StoreExit::OnPiece(TunnelPiece piece) {
  // Connections are counted upwards; what is said of an old one is late.
  if (piece.connection > last_) {
    last_ = piece.connection;
    Result<UniqueFd> socket = DialOwnLoopback(port_);
    if (!socket.ok()) return send_({piece.connection, {}, true});
    relay_.Add(piece.connection, std::move(socket).value());
  }
  relay_.OnPiece(std::move(piece));
}

}  // namespace hvd
