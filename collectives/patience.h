// Patience: how long a rank has waited for a silent neighbour, not counting the
// time in which it could not have noticed an answer.
//
// Pure. A job that was stopped with Ctrl-Z, or whose machine slept, does not
// find all its deadlines passed when it goes on.
#pragma once

#include <algorithm>
#include <optional>

#include "base/clock.h"

namespace hvd {

class Patience {
 public:
  // A sleep is cut into slices of this, so that a stop shows in one of them.
  static constexpr Duration kSlice{1000};
  // A slice that takes this much longer than asked means that we were stopped.
  static constexpr Duration kStopped{2000};

  explicit Patience(Duration limit) : limit_(limit) {}

  // Something moved, or the wait begins.
  void Restart(Instant now) { since_ = now; }
  // How long to sleep next; nullopt: `limit` has passed.
  std::optional<Duration> NextSlice(Instant now) const {
    const auto left = std::chrono::ceil<Duration>(since_ + limit_ - now);
    if (left.count() <= 0) return std::nullopt;
    return std::min(left, kSlice);
  }
  // After a sleep of `asked`, at the latest.
  void Slept(Instant before, Instant now, Duration asked) {
    if (now - before > asked + kStopped) since_ += now - before - asked;
  }

 private:
  Duration limit_;
  Instant since_{};
};

}  // namespace hvd
