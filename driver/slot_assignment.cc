#include "driver/slot_assignment.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace hvd {

std::vector<WorkerId> AssignSlots(
    const HostList& hosts, int most,
    const std::function<bool(const WorkerId&)>& usable) {
  std::vector<WorkerId> places;
  for (const HostSlots& host : hosts) {
    for (int slot = 0; slot < host.slots; ++slot) {
      if (static_cast<int>(places.size()) >= most) return places;
      WorkerId place{host.host, slot};
      if (usable(place)) places.push_back(std::move(place));
    }
  }
  return places;
}

HostList InFirstListedOrder(const HostList& hosts,
                            const std::vector<std::string>& before) {
  std::unordered_map<std::string, std::size_t> seniority;
  for (const std::string& host : before) {
    seniority.emplace(host, seniority.size());
  }
  const auto rank = [&](const HostSlots& host) {
    const auto found = seniority.find(host.host);
    return found == seniority.end() ? seniority.size() : found->second;
  };
  HostList ordered = hosts;
  std::stable_sort(
      ordered.begin(), ordered.end(),
      [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return ordered;
}

int CountHosts(const std::vector<WorkerId>& workers) {
  std::unordered_set<std::string> hosts;
  for (const WorkerId& worker : workers) hosts.insert(worker.host);
  return static_cast<int>(hosts.size());
}

}  // namespace hvd
