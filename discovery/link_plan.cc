#include "discovery/link_plan.h"

namespace hvd {

std::vector<std::vector<std::size_t>> PlanLinks(std::size_t size) {
  if (size < 2) return {};
  std::vector<std::vector<std::size_t>> rounds(2);
  const std::size_t even = size - size % 2;
  for (std::size_t link = 0; link < even; ++link) {
    rounds[link % 2].push_back(link);
  }
  // The last of an odd ring has a neighbour in either round.
  if (even < size) rounds.push_back({even});
  return rounds;
}

}  // namespace hvd
