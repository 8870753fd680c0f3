// Perf loop: how a collective is timed, for hvd-perf and for the programs that
// bench/ sets beside it.
//
// Every operation is timed by itself, after a barrier; before it the owner of
// the input rewrites all of it, as a training step does, so that no algorithm
// gets a warm cache for a gift. What counts is the slowest rank of each
// operation. Nothing of libhvd is used here.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/clock.h"

namespace hvd::perf {

struct Times {  // microseconds
  double mean = 0;
  double min = 0;
  double median = 0;
  double p99 = 0;
};

// So many that a size takes a fraction of a second, and few are too few.
inline int IterationsFor(std::size_t bytes) {
  if (bytes <= (std::size_t{64} << 10U)) return 1000;
  if (bytes <= (std::size_t{1} << 20U)) return 200;
  if (bytes <= (std::size_t{16} << 20U)) return 30;
  return 8;
}

inline Times Summarize(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const std::size_t n = times.size();
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  return {sum / static_cast<double>(n), times.front(), times[n / 2],
          times[std::min(n - 1, n * 99 / 100)]};
}

// Group has Barrier() and MaxOverRanks(double*, count); `operation` is what is
// timed.
template <class Group, class Operation>
Times Measure(Group& group, void* input, std::size_t input_bytes,
              int iterations, const Operation& operation) {
  const int warm_up = std::max(iterations / 10, 2);
  std::vector<double> times;
  for (int i = 0; i < warm_up + iterations; ++i) {
    std::memset(input, i % 8, input_bytes);
    group.Barrier();
    const auto begin = SteadyClock().Now();
    operation();
    const std::chrono::duration<double, std::micro> took =
        SteadyClock().Now() - begin;
    if (i >= warm_up) times.push_back(took.count());
  }
  group.MaxOverRanks(times.data(), times.size());
  return Summarize(std::move(times));
}

}  // namespace hvd::perf
