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

// Numbers measured on a 2-core machine: a flag's round trip takes 0.1 to 0.5 us
// there, 2000 pauses about 30 us, a wake-up from sleep 10 to 15 us.
inline WaitPolicy ChooseWait(int ranks_here, int cores, bool all_shared) {
  if (!all_shared) return {0, 2};  // each look at a socket is a system call
  if (ranks_here <= cores) return {2000, 32};
  return {0, 8};
}

// Cores this process may run on.
int UsableCores();

}  // namespace hvd
