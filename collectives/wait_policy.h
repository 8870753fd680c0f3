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

// For data that comes through the kernel. Measured on 2 cores: a round trip of
// loopback TCP takes 10 us between ranks that look, 30 between ranks that
// sleep. A look is a system call; and two ranks may share a core even where
// there is one for each, so a rank yields soon, and often before it sleeps.
inline WaitPolicy ChooseWait(int ranks_here, int cores) {
  using std::chrono::microseconds;
  if (ranks_here <= cores) return {microseconds(10), 100};
  return {microseconds(0), 4};
}

// What a loop does that only looks at memory.
inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
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
