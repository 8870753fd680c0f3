// Probe plan: which hosts must be reached from which, so that a job's rings and
// its first rank work whatever the order of its hosts.
//
// Up to kMaxComplete hosts: every pair, both ways. Above that a number of pairs
// that grows as the hosts do: neighbours in the list at distance 1 and 2, the
// ends joined, and the first with all, both ways. Pure.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace hvd {

inline constexpr std::size_t kMaxComplete = 16;

// (from, to), each pair once, ordered.
std::vector<std::pair<std::size_t, std::size_t>> PlanProbes(std::size_t hosts);

}  // namespace hvd
