#include "discovery/slow_links.h"

#include <algorithm>

namespace hvd {
namespace {

constexpr std::size_t kLinksOfAMachine = 2;
constexpr double kFarBelow = 0.5;

}  // namespace

SlowLinks FindSlowLinks(const std::vector<std::optional<double>>& rates) {
  std::vector<double> known;
  for (const std::optional<double>& rate : rates) {
    if (rate) known.push_back(*rate);
  }
  SlowLinks slow;
  if (known.size() < 2) return slow;
  std::sort(known.begin(), known.end());
  slow.usual = known[std::min(std::max(known.size() / 2, kLinksOfAMachine),
                              known.size() - 1)];
  std::vector<bool> is_slow;
  for (std::size_t link = 0; link < rates.size(); ++link) {
    is_slow.push_back(rates[link] && *rates[link] < kFarBelow * slow.usual);
    if (is_slow.back()) slow.links.push_back(link);
  }
  // Between two machines nobody can tell which one it is.
  if (rates.size() <= kLinksOfAMachine) return slow;
  for (std::size_t machine = 0; machine < rates.size(); ++machine) {
    const std::size_t before = (machine + rates.size() - 1) % rates.size();
    if (is_slow[before] && is_slow[machine]) slow.machines.push_back(machine);
  }
  return slow;
}

}  // namespace hvd
