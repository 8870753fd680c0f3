// SocketRelay: one end of connections whose bytes go on elsewhere: what these
// sockets hold is sent piece by piece, and what comes is written to them.
//
// Both ends are alike. Of each connection at most kWindow pieces are on their
// way in each direction, so a peer that does not read holds up its own
// connection, and memory stays bounded. An end that says no more may still be
// told more, as with TCP.
//
// Loop thread only. `send` and `taken` may be called from inside any call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/event_loop.h"
#include "base/unique_fd.h"
#include "launcher/tunnel_piece.h"

namespace hvd {

class SocketRelay {
 public:
  static constexpr std::size_t kPiece = 64U << 10U;
  static constexpr std::size_t kWindow = 4;

  SocketRelay(EventLoop& loop, std::function<void(TunnelPiece)> send,
              std::function<void(TunnelTaken)> taken)
      : loop_(loop), send_(std::move(send)), taken_(std::move(taken)) {}

  // `socket` is connected and non-blocking.
  void Add(std::uint64_t connection, UniqueFd socket);
  std::size_t size() const { return sockets_.size(); }
  bool Has(std::uint64_t connection) const {
    return sockets_.contains(connection);
  }

  // What the other end says; of a connection that is gone it means nothing.
  void OnPiece(TunnelPiece piece);
  void OnTaken(TunnelTaken taken);

 private:
  struct Socket {
    UniqueFd fd;
    std::size_t on_their_way = 0;  // pieces that were sent
    bool said_end = false;
    std::deque<std::string> to_write;
    std::size_t written = 0;  // of the first
    bool heard_end = false;
    std::unique_ptr<FdWatch> readable;  // both end before the descriptor
    std::unique_ptr<FdWatch> writable;
  };

  void Read(std::uint64_t connection);
  void Write(std::uint64_t connection);
  // 0: not now. nullopt: nobody reads there any more.
  static std::optional<std::size_t> WriteSome(Socket& socket);
  void SayEnd(std::uint64_t connection, Socket& socket);
  void Break(std::uint64_t connection);

  EventLoop& loop_;
  std::function<void(TunnelPiece)> send_;
  std::function<void(TunnelTaken)> taken_;
  std::map<std::uint64_t, Socket> sockets_;
};

}  // namespace hvd
