#include "rendezvous/world.h"

#include <map>

#include "base/check.h"

namespace hvd {

std::string ToString(const WorkerId& worker) {
  return worker.host + "/" + std::to_string(worker.slot);
}

std::vector<Placement> Placements(const World& world) {
  struct Host {
    int index = 0;
    int workers = 0;
  };
  std::map<std::string, Host> hosts;
  std::vector<int> cross_sizes;  // [local_rank]
  std::vector<Placement> placements(world.workers.size());
  for (std::size_t rank = 0; rank < world.workers.size(); ++rank) {
    const int host_count = static_cast<int>(hosts.size());
    Host& host =
        hosts.try_emplace(world.workers[rank].host, Host{host_count, 0})
            .first->second;
    Placement& placement = placements[rank];
    placement.rank = static_cast<int>(rank);
    placement.size = static_cast<int>(world.workers.size());
    placement.host_index = host.index;
    placement.local_rank = host.workers++;
    const auto local = static_cast<std::size_t>(placement.local_rank);
    if (local == cross_sizes.size()) cross_sizes.push_back(0);
    ++cross_sizes[local];
  }

  // cross_rank follows the order of the hosts, not of the ranks: after a reset
  // a host's newcomers may stand behind those of a later host.
  std::vector<std::vector<Placement*>> by_host(hosts.size());
  for (Placement& placement : placements) {
    by_host[static_cast<std::size_t>(placement.host_index)].push_back(
        &placement);
  }
  std::vector<int> cross_ranks(cross_sizes.size(), 0);
  for (const std::vector<Placement*>& host : by_host) {
    for (Placement* placement : host) {
      const auto local = static_cast<std::size_t>(placement->local_rank);
      placement->local_size = static_cast<int>(host.size());
      placement->cross_rank = cross_ranks[local]++;
      placement->cross_size = cross_sizes[local];
    }
  }
  return placements;
}

Placement PlacementOf(const World& world, int rank) {
  HVD_CHECK(rank >= 0 && static_cast<std::size_t>(rank) < world.workers.size());
  return Placements(world)[static_cast<std::size_t>(rank)];
}

}  // namespace hvd
