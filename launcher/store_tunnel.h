// StoreEntrance and StoreExit: the way of unsigned requests to hvdrun's store.
//
// Horovod's clients cannot sign, so nothing of theirs may cross a network. Each
// host's agent has an entrance on its own loopback, open to sockets of this
// user only; what they say goes over the authenticated connection and comes out
// at hvdrun's own loopback, where the store asks the same question again.
//
// Neither end looks into the bytes. Loop thread only; `say` may be called from
// inside any call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/port_range.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "launcher/socket_relay.h"
#include "launcher/tunnel_piece.h"

namespace hvd {

// At the agent.
class StoreEntrance {
 public:
  // One more is hung up on.
  static constexpr std::size_t kMaxConnections = 1024;
  // After so many refusals no more is said of them.
  static constexpr int kMaxRefusalsSaid = 10;

  struct Handlers {
    std::function<void(TunnelPiece)> send;
    std::function<void(TunnelTaken)> taken;
    // Why somebody was sent away.
    std::function<void(const std::string&)> refused;
  };

  // kUnavailable: no port is free.
  static Result<std::unique_ptr<StoreEntrance>> Open(EventLoop& loop,
                                                     const PortRange& ports,
                                                     Handlers handlers);
  virtual ~StoreEntrance() = default;
  // At 127.0.0.1.
  virtual std::uint16_t port() const = 0;
  virtual void OnPiece(TunnelPiece piece) = 0;
  virtual void OnTaken(TunnelTaken taken) = 0;
};

// At hvdrun, one an agent.
class StoreExit {
 public:
  // `port`: of the store, at 127.0.0.1.
  StoreExit(EventLoop& loop, std::uint16_t port,
            const std::function<void(TunnelPiece)>& send,
            std::function<void(TunnelTaken)> taken)
      : port_(port), relay_(loop, send, std::move(taken)), send_(send) {}

  void OnPiece(TunnelPiece piece);
  void OnTaken(TunnelTaken taken) { relay_.OnTaken(taken); }

 private:
  std::uint16_t port_;
  SocketRelay relay_;
  std::function<void(TunnelPiece)> send_;
  std::uint64_t last_ = 0;  // connection that was seen
};

}  // namespace hvd
