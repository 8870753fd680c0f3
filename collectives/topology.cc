#include "collectives/topology.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <string>

namespace hvd {

int Topology::rails() const {
  std::size_t fewest = hosts.front().size();
  for (const std::vector<int>& ranks : hosts) {
    fewest = std::min(fewest, ranks.size());
  }
  return static_cast<int>(fewest);
}

int Topology::OnRail(int steps) const {
  const int count = host_count();
  const int other = ((host + steps) % count + count) % count;
  return hosts[static_cast<std::size_t>(other)]
              [static_cast<std::size_t>(local)];
}

Topology TopologyOf(const Membership& membership) {
  Topology topology{.rank = membership.rank,
                    .size = static_cast<int>(membership.endpoints.size()),
                    .hosts = {}};
  std::map<std::string, std::size_t> index;
  for (int rank = 0; rank < topology.size; ++rank) {
    const auto& key =
        membership.endpoints[static_cast<std::size_t>(rank)].host_key;
    const auto at = index.emplace(key, topology.hosts.size());
    if (at.second) topology.hosts.emplace_back();
    std::vector<int>& ranks = topology.hosts[at.first->second];
    if (rank == topology.rank) {
      topology.host = static_cast<int>(at.first->second);
      topology.local = static_cast<int>(ranks.size());
    }
    ranks.push_back(rank);
  }
  return topology;
}

DoublingPlan PlanDoubling(int hosts, int host) {
  const auto power =
      static_cast<int>(std::bit_floor(static_cast<unsigned>(hosts)));
  DoublingPlan plan;
  if (host >= power) {
    plan.gives_to = host - power;
    return plan;
  }
  if (host + power < hosts) plan.takes_from = host + power;
  for (int distance = 1; distance < power; distance *= 2) {
    plan.partners.push_back(host ^ distance);
  }
  return plan;
}

}  // namespace hvd
