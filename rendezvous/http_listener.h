// HttpListener: a bound port and the connections accepted on it.
//
// Accepts no more than it has descriptors for, and never spins when the process
// has run out of them. Loop thread only. Destroying it closes all connections;
// not from inside a conversation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/result.h"
#include "rendezvous/http_connection.h"

namespace hvd {

class HttpListener {
 public:
  struct Options {
    std::string address;     // an IPv4 or IPv6 literal
    std::uint16_t port = 0;  // 0: the kernel chooses
    HttpLimits limits;
  };
  struct Handlers {
    std::function<std::unique_ptr<HttpConversation>(HttpConnection&)> on_accept;
    std::function<void(const HttpConnection&, const HttpRefusal&)> on_refused;
    // Every kSweepInterval while there are connections.
    std::function<void(Instant now)> on_sweep;
  };

  static constexpr Duration kSweepInterval{500};

  // kInvalidArgument: not an address; kUnavailable: it cannot be bound.
  static Result<std::unique_ptr<HttpListener>> Listen(EventLoop& loop,
                                                      const Options& options,
                                                      Handlers handlers);
  virtual ~HttpListener() = default;
  virtual std::uint16_t port() const = 0;
  virtual std::size_t connections() const = 0;
};

}  // namespace hvd
