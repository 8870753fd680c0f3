// Clock: the only place the program asks what time it is.
//
// Decisions take `now` as an argument; only edges hold a Clock.
#pragma once

#include <chrono>

namespace hvd {

// Monotonic. Never compared between hosts, never printed as a date.
using Instant = std::chrono::steady_clock::time_point;
using Duration = std::chrono::milliseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant Now() const = 0;
};

class SteadyClock : public Clock {
 public:
  Instant Now() const override { return std::chrono::steady_clock::now(); }
};

// What the calling thread has computed so far: for measuring only. Whatever
// else the machine does meanwhile is not in it.
class ThreadTime : public Clock {
 public:
  Instant Now() const override;
};

// Wall time: for printing only, never for a decision, never sent to a host.
std::chrono::system_clock::time_point WallNow();

}  // namespace hvd
