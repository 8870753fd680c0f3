// PumpUntil: runs a loop until something outside of it has happened.
#pragma once

#include <chrono>
#include <functional>

#include "base/event_loop.h"

namespace hvd::testing {

// RunUntil asks after each event of the loop; this asks without one as well.
inline bool PumpUntil(EventLoop& loop, const std::function<bool()>& done,
                      Duration limit) {
  const Instant end = loop.Now() + limit;
  while (!loop.RunUntil(done, Duration{5})) {
    if (loop.Now() >= end) return false;
  }
  return true;
}

}  // namespace hvd::testing
