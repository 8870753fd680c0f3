// ProbeDialer: finds out which addresses this host can reach, and who answers
// there.
//
// Many at once and without blocking: kMaxInFlight connections, kProbeLimit for
// each, kBatchLimit for all of one call. The address that this host is seen
// with plays no part.
//
// Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"

namespace hvd {

struct ProbeTarget {
  std::string address;  // an IPv4 or IPv6 literal
  std::uint16_t port = 0;
  std::string identity;  // of the host that should answer
  bool operator==(const ProbeTarget&) const = default;
};

struct ProbeResult {
  enum class Kind {
    kProved,     // the right host answered
    kOtherHost,  // another host of this job answered
    kNoHvdrun,   // something answered, or hung up, that is none of this job's
    kUnreached,  // no connection: `failure` says why
  };
  Kind kind = Kind::kUnreached;
  std::string answered_as;    // identity of who answered; kProved, kOtherHost
  std::string local_address;  // of this host, towards there; kProved
  std::chrono::microseconds round_trip{0};  // of the question; kProved
  // kUnreached: "No route to host", "timed out after 2 s"; kNoHvdrun: "no
  // answer after 2 s", or empty.
  std::string failure;

  bool proved() const { return kind == Kind::kProved; }
  bool operator==(const ProbeResult&) const = default;
};

class ProbeDialer {
 public:
  static constexpr std::size_t kMaxInFlight = 64;
  static constexpr Duration kProbeLimit{2'000};
  static constexpr Duration kBatchLimit{4'000};

  // Called on the loop, never from inside Dial(), once for each target by its
  // place in the list, in the order in which they are found out. It may call
  // Dial() or destroy the dialer.
  using Handler = std::function<void(std::size_t index, const ProbeResult&)>;

  // `key`: of the job's probes.
  static std::unique_ptr<ProbeDialer> Make(EventLoop& loop, std::string key);
  // No handler is called afterwards.
  virtual ~ProbeDialer() = default;
  virtual void Dial(std::vector<ProbeTarget> targets, Handler handler) = 0;
};

}  // namespace hvd
