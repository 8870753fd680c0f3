// LinkMeter: measures the way from this host to another: how long a question
// and its answer take, and how many bytes arrive in a time.
//
// The other end is that host's LinkAnswerer. One link at a time, in the order
// in which they were asked for, kLimit for each: first kPings round trips, on
// a way that nobody else of the job uses then, then as much load as gets
// through in kLoadTime or kLoadBytes, whichever is first. The bytes are counted
// where they arrive, so what waits in a queue on the way counts for nothing.
//
// Loop thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "discovery/probe_dialer.h"

namespace hvd {

struct LinkResult {
  std::chrono::microseconds least_round_trip{0};
  std::chrono::microseconds median_round_trip{0};
  std::uint64_t load_bytes = 0;  // that arrived
  std::chrono::microseconds load_time{0};
  std::string failure = {};  // not empty: nothing else is known
  bool ok() const { return failure.empty(); }
  bool operator==(const LinkResult&) const = default;
};

class LinkMeter {
 public:
  static constexpr std::uint64_t kPings = 20;
  static constexpr std::uint64_t kLoadBytes = std::uint64_t{64} << 20;
  static constexpr Duration kLoadTime{500};
  static constexpr Duration kConnectLimit{2'000};
  static constexpr Duration kLimit{5'000};  // of all of it

  // Called on the loop, never from inside Measure(), once. It may call
  // Measure() or destroy the meter.
  using Handler = std::function<void(const LinkResult&)>;

  // `key`: of the job's probes.
  static std::unique_ptr<LinkMeter> Make(EventLoop& loop, std::string key);
  // No handler is called afterwards.
  virtual ~LinkMeter() = default;
  virtual void Measure(const ProbeTarget& target, Handler handler) = 0;
};

}  // namespace hvd
