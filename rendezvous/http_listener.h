// HttpListener: bound ports, one an address, and the connections accepted on
// them.
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
#include "base/port_range.h"
#include "base/result.h"
#include "rendezvous/http_connection.h"

namespace hvd {

class HttpListener {
 public:
  struct Options {
    std::string address;  // an IPv4 or IPv6 literal
    PortRange ports = {};
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
  // At the address of the options.
  virtual std::uint16_t port() const = 0;
  // Listens there as well, if possible on port(). The port; kInvalidArgument or
  // kUnavailable as above.
  virtual Result<std::uint16_t> AddAddress(const std::string& address) = 0;
  virtual std::size_t connections() const = 0;
};

}  // namespace hvd
