// World: who takes part, in which order, at one epoch.
//
// Plain data and pure arithmetic, shared by hvdrun and libhvd.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace hvd {

// Counts the worlds of one job, from 1; 0 is "none yet". A message that carries
// an older one is stale.
enum class Epoch : std::uint64_t {};

// A place for one worker: the host's name as the user wrote it, and which of
// its slots. It stays the same while ranks come and go.
struct WorkerId {
  std::string host;
  int slot = 0;
  // clang-tidy 14 takes the defaulted operator for a comparison with 0.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  auto operator<=>(const WorkerId&) const = default;
};

// "a/0", as logs, scenarios and --explain print it.
std::string ToString(const WorkerId& worker);

// One life of one worker. A worker that is started again gets a new number.
enum class LaunchId : int {};

struct World {
  Epoch epoch{};
  std::vector<WorkerId> workers;  // workers[rank]
  bool operator==(const World&) const = default;
};

// The six numbers of Horovod. cross_rank: position of this worker's host among
// the hosts that have a worker with this local_rank (horovod-style: not the
// host's index on uneven hosts). local_rank counts workers of the same host in
// rank order.
struct Placement {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  int local_size = 1;
  int cross_rank = 0;
  int cross_size = 1;
  int host_index = 0;  // position of the host in order of first appearance
  bool operator==(const Placement&) const = default;
};

// `rank` must be a rank of `world`.
Placement PlacementOf(const World& world, int rank);
// All of them, in rank order; linear in the size of the world.
std::vector<Placement> Placements(const World& world);

}  // namespace hvd
