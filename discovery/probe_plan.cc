#include "discovery/probe_plan.h"

#include <algorithm>

namespace hvd {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

void AddBothWays(std::size_t a, std::size_t b, Pairs& pairs) {
  pairs.emplace_back(a, b);
  pairs.emplace_back(b, a);
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> PlanProbes(std::size_t hosts) {
  Pairs pairs;
  if (hosts <= kMaxComplete) {
    for (std::size_t a = 0; a < hosts; ++a) {
      for (std::size_t b = a + 1; b < hosts; ++b) AddBothWays(a, b, pairs);
    }
  } else {
    for (std::size_t a = 0; a < hosts; ++a) {
      AddBothWays(a, (a + 1) % hosts, pairs);
      AddBothWays(a, (a + 2) % hosts, pairs);
      if (a > 0) AddBothWays(0, a, pairs);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

}  // namespace hvd
