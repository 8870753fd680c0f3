// WaitPolicy: how long a rank that waits for a neighbour keeps its core.
//
// A waiting rank first looks again and again, then yields, then sleeps. Where
// there are more ranks than cores looking again only keeps the awaited one from
// running.
#pragma once

namespace hvd {

struct WaitPolicy {
  int spins = 0;   // looks with a pause instruction between them
  int yields = 0;  // looks with sched_yield between them
};

// Measured on 2 cores: a flag's round trip takes 0.1 to 0.5 us, 2000 pauses
// about 30 us, a wake-up from sleep 10 to 15 us. A yield on a busy machine costs
// whole time slices of the others, so there are few of them.
inline WaitPolicy ChooseWait(int ranks_here, int cores, bool all_shared) {
  if (!all_shared) return {0, 1};  // each look at a socket is a system call
  if (ranks_here <= cores) return {2000, 2};
  return {0, 2};
}

// Cores this process may run on.
int UsableCores();

}  // namespace hvd
