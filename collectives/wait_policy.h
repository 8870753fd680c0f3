// WaitPolicy: how long a rank that waits for a neighbour keeps its core.
//
// A waiting rank first looks again and again, then yields, then sleeps. Where
// there are more ranks than cores looking again only keeps the awaited one from
// running.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace hvd {

struct WaitPolicy {
  std::chrono::microseconds spin{0};  // looking with pause instructions between
  int yields = 0;                     // then, with sched_yield between
};

// Measured on 2 cores: a flag's round trip takes 0.1 to 0.5 us, a wake-up from
// sleep 10 to 15 us, so spinning longer than two of those gains nothing. A
// yield on a busy machine costs whole time slices of the others, so there are
// few.
inline WaitPolicy ChooseWait(int ranks_here, int cores, bool all_shared) {
  using std::chrono::microseconds;
  if (!all_shared) return {microseconds(0), 1};  // a look is a system call
  if (ranks_here <= cores) return {microseconds(30), 2};
  return {microseconds(0), 2};
}

// One wait, by a policy, up to the point where sleeping is due.
class Looking {
 public:
  explicit Looking(const WaitPolicy& policy)
      : policy_(policy), yields_left_(policy.yields) {}

  // No look so far.
  bool first() const { return !began_; }
  // Pauses or yields before another look; false: sleep instead.
  bool Again(Instant now);

 private:
  WaitPolicy policy_;
  int yields_left_;
  bool began_ = false;
  Instant since_{};
};

// Cores this process may run on.
int UsableCores();

}  // namespace hvd
