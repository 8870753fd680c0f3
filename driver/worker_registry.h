// WorkerRegistry: what is known of each worker of the job that still matters:
// the members of the world by rank, and beside them newcomers that are not in a
// world yet and leavers that are not in one any more.
//
// Bookkeeping only; the driver decides. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/outcome.h"
#include "rendezvous/world.h"

namespace hvd {

struct Worker {
  WorkerEnd end;  // end.rank: in the world, or the one it may get
  bool member = false;
  bool listed = true;               // its slot is, by the last list of hosts
  Epoch held{};                     // the world that it has; 0: none yet
  int held_rank = 0;                // in that world
  bool asks = false;                // it waits for one newer than that
  std::optional<Instant> heard_at;  // the last word of it
  bool says_so = false;             // again and again, that it is there
  std::uint64_t operations = 0;     // collectives begun of the world it holds
  // The rank that ended its collectives, by its own account.
  std::optional<int> blames;
  // It was a member and is none any more: whatever it does is no failure.
  bool leaving = false;
  // We stop it because it kept the others waiting: its end is a failure.
  bool condemned = false;
  bool failed = false;              // charged to its slot
  std::optional<Instant> leave_by;  // then it is made to leave

  bool HasEnded() const {  // or failed to start, or went with its host
    return end.status.has_value() || end.start_error.has_value() ||
           end.host_lost;
  }
  bool IsRunning() const { return end.pid.has_value() && !HasEnded(); }
  // It ended of its own will, with 0.
  bool HasDeparted() const {
    return end.status && end.status->success() && !end.told_to_stop;
  }
  // The others do without it, and did not expect to.
  bool IsLost() const { return condemned || (HasEnded() && !HasDeparted()); }
  // It is there, or on its way, and takes part.
  bool IsSeated() const { return !HasEnded() && !leaving && !condemned; }
};

class WorkerRegistry {
 public:
  using Test = std::function<bool(const Worker&)>;

  WorkerRegistry() = default;
  WorkerRegistry(const WorkerRegistry& other);
  WorkerRegistry& operator=(const WorkerRegistry&) = delete;

  // A newcomer, with a launch number that was never used before.
  Worker& Add(const WorkerId& id, int rank);
  // The launches of the next world's members, in rank order. Members that are
  // in it no more leave, those that have ended are forgotten.
  void SetMembers(const std::vector<LaunchId>& launches);
  // Forgets whoever has ended and is no member.
  void ForgetEnded();

  // nullptr: none of ours, or forgotten.
  Worker* Find(LaunchId launch);
  const Worker* Find(LaunchId launch) const;
  // The one that has not ended, if any.
  Worker* FindLive(const WorkerId& id);

  // In the order of their launch.
  const std::vector<std::unique_ptr<Worker>>& workers() const {
    return workers_;
  }
  const std::vector<Worker*>& members() const { return members_; }  // by rank
  std::vector<Worker*> All(const Test& wanted);  // in the order of their launch

  std::vector<WorkerId> MemberIds() const;  // by rank
  bool AllMembers(const Test& test) const;
  bool AnyMember(const Test& test) const;
  bool Any(const Test& test) const;
  int Count(const Test& wanted) const;
  // Ranks of members for which `wanted` holds, in order.
  std::vector<int> Ranks(const Test& wanted) const;

 private:
  struct Hash {
    std::size_t operator()(const WorkerId& id) const;
  };

  std::vector<std::unique_ptr<Worker>> workers_;         // by launch
  std::unordered_map<WorkerId, LaunchId, Hash> newest_;  // of each slot
  std::vector<Worker*> members_;                         // of workers_, by rank
  int last_launch_ = 0;
};

// "rank 3", "ranks 0-2,5", "ranks 0,2,4,... (900 ranks)": for messages.
std::string RankText(const std::vector<int>& ranks);

}  // namespace hvd
