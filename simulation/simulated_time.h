// SimulatedTime: what will happen, and when; time goes on when it is told to.
//
// Pure. What is due at the same time happens in the order in which it was asked
// for.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace hvd {

class SimulatedTime {
 public:
  Instant now() const { return now_; }

  void After(Duration delay, std::function<void()> what) {
    due_.emplace(now_ + delay, std::move(what));
  }
  std::optional<Instant> next() const {
    if (due_.empty()) return std::nullopt;
    return due_.begin()->first;
  }
  // Goes on to what is due next, and does it.
  void Step() {
    auto first = due_.extract(due_.begin());
    now_ = first.key();
    first.mapped()();
  }
  void GoOnTo(Instant then) { now_ = then; }

 private:
  Instant now_{};
  std::multimap<Instant, std::function<void()>> due_;
};

}  // namespace hvd
