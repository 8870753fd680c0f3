#include "discovery/probe_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace hvd {

TEST_CASE("up to sixteen hosts every pair is probed both ways", "[discovery]") {
  CHECK(PlanProbes(0).empty());
  CHECK(PlanProbes(1).empty());
  CHECK(PlanProbes(2).size() == 2);
  for (std::size_t n = 2; n <= kMaxComplete; ++n) {
    CHECK(PlanProbes(n).size() == n * (n - 1));
  }
}

TEST_CASE("many hosts are probed by a fixed number each", "[discovery]") {
  for (const std::size_t n : {17U, 18U, 64U, 1000U}) {
    INFO(n);
    const auto pairs = PlanProbes(n);
    // Two neighbours on each side, and the first: 6 a host, less those of the
    // first's own neighbours and of itself.
    CHECK(pairs.size() == 6 * n - 10);
    const auto has = [&](std::size_t from, std::size_t to) {
      return std::binary_search(pairs.begin(), pairs.end(),
                                std::pair(from, to));
    };
    for (std::size_t a = 0; a < n; ++a) {
      CHECK_FALSE(has(a, a));
      for (const std::size_t distance : {1U, 2U}) {
        CHECK(has(a, (a + distance) % n));
        CHECK(has((a + distance) % n, a));
      }
      if (a > 0) CHECK(has(0, a));
      if (a > 0) CHECK(has(a, 0));
    }
  }
}

}  // namespace hvd
