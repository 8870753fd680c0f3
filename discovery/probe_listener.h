// ProbeListener: answers probes, so that another host can be sure that it was
// this one that it reached.
//
// Listens on all addresses of both families. A peer that cannot sign for this
// job gets no byte. Connections, bytes and time of each are bounded. Who wants
// to measure the way here is handed on to a LinkAnswerer.
//
// Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/port_range.h"
#include "base/result.h"

namespace hvd {

class ProbeListener {
 public:
  struct Options {
    std::string key;       // of the job's probes
    std::string identity;  // this host's; 1 to kMaxProbeIdentity bytes
    PortRange ports;
  };

  static constexpr std::size_t kMaxConnections = 256;
  static constexpr Duration kPatience{3'000};  // with one connection

  // kUnavailable: no port can be bound.
  static Result<std::unique_ptr<ProbeListener>> Listen(EventLoop& loop,
                                                       Options options);
  virtual ~ProbeListener() = default;
  virtual std::uint16_t port() const = 0;
};

}  // namespace hvd
