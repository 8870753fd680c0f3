// WorkerRegistry: what is known of each worker of the world, by rank and by
// launch.
//
// Bookkeeping only; the driver decides. Not thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/outcome.h"
#include "rendezvous/world.h"

namespace hvd {

class WorkerRegistry {
 public:
  // Forgets everything; each worker of `world` gets a launch number of its own,
  // counted on from the last one.
  void Reset(const World& world);

  // nullptr: not a launch, or not a worker, of this world.
  WorkerEnd* Find(LaunchId launch);
  WorkerEnd* Find(const WorkerId& worker);

  const std::vector<WorkerEnd>& workers() const { return workers_; }
  std::vector<WorkerEnd>& workers() { return workers_; }

  static bool HasEnded(const WorkerEnd& worker);   // or failed to start
  static bool IsRunning(const WorkerEnd& worker);  // started and not ended

  bool AllEnded() const;
  bool AllStarted() const;
  bool AllJoined() const;
  bool AnyJoined() const;
  // Ranks for which `wanted` holds, in order.
  std::vector<int> Ranks(
      const std::function<bool(const WorkerEnd&)>& wanted) const;

 private:
  std::vector<WorkerEnd> workers_;  // by rank
  int first_launch_ = 1;            // of this world; launches follow ranks
};

// "rank 3", "ranks 0-2,5": for messages.
std::string RankText(const std::vector<int>& ranks);

}  // namespace hvd
