// The `ring` example as an elastic job, and what its worlds said they did.
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/hvdrun.h"

namespace hvd::testing {

// `ring`, with its pid said first and each step's line after it.
inline std::vector<std::string> Ring(std::vector<std::string> flags,
                                     const std::string& steps) {
  flags.insert(flags.end(), {"sh", "-c",
                             "echo pid=$$; exec " + Bin("ring") +
                                 " --rate 20 --steps " + steps});
  return HvdrunCommand(std::move(flags));
}

inline std::string StepLine(int rank, int size, int step) {
  return "rank=" + std::to_string(rank) + " size=" + std::to_string(size) +
         " step=" + std::to_string(step) + ' ';
}

// The steps that a world of `size` has done, as its rank 0 said.
inline std::set<int> StepsAtSize(const std::string& out, int size) {
  std::set<int> steps;
  const std::string before = "rank=0 size=" + std::to_string(size) + " step=";
  for (std::size_t at = out.find(before); at != std::string::npos;
       at = out.find(before, at + 1)) {
    steps.insert(std::stoi(out.substr(at + before.size())));
  }
  return steps;
}

inline bool HasSteps(const std::string& out, int size, std::size_t count) {
  return StepsAtSize(out, size).size() >= count;
}

// Every step from 1 on was done, by a world of whatever size.
inline void CheckAllSteps(const std::string& out, int steps) {
  for (int step = 1; step <= steps; ++step) {
    CAPTURE(step);
    CHECK(Contains(out, " step=" + std::to_string(step) + ' '));
  }
}

}  // namespace hvd::testing
