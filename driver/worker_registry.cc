#include "driver/worker_registry.h"

#include <algorithm>

namespace hvd {

void WorkerRegistry::Reset(const World& world) {
  first_launch_ += static_cast<int>(workers_.size());
  workers_.clear();
  for (const WorkerId& id : world.workers) {
    WorkerEnd worker;
    worker.rank = static_cast<int>(workers_.size());
    worker.worker = id;
    worker.launch = LaunchId{first_launch_ + worker.rank};
    workers_.push_back(std::move(worker));
  }
}

WorkerEnd* WorkerRegistry::Find(LaunchId launch) {
  const int rank = static_cast<int>(launch) - first_launch_;
  if (rank < 0 || rank >= static_cast<int>(workers_.size())) return nullptr;
  return &workers_[static_cast<std::size_t>(rank)];
}

WorkerEnd* WorkerRegistry::Find(const WorkerId& worker) {
  const auto found =
      std::find_if(workers_.begin(), workers_.end(),
                   [&](const WorkerEnd& w) { return w.worker == worker; });
  return found == workers_.end() ? nullptr : &*found;
}

bool WorkerRegistry::HasEnded(const WorkerEnd& worker) {
  return worker.status.has_value() || worker.start_error.has_value();
}

bool WorkerRegistry::IsRunning(const WorkerEnd& worker) {
  return worker.pid.has_value() && !HasEnded(worker);
}

bool WorkerRegistry::AllEnded() const {
  return std::all_of(workers_.begin(), workers_.end(), HasEnded);
}

bool WorkerRegistry::AllStarted() const {
  return std::all_of(workers_.begin(), workers_.end(),
                     [](const WorkerEnd& w) { return w.pid.has_value(); });
}

bool WorkerRegistry::AllJoined() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const WorkerEnd& w) {
    return w.joined_at.has_value();
  });
}

bool WorkerRegistry::AnyJoined() const {
  return std::any_of(workers_.begin(), workers_.end(), [](const WorkerEnd& w) {
    return w.joined_at.has_value();
  });
}

std::vector<int> WorkerRegistry::Ranks(
    const std::function<bool(const WorkerEnd&)>& wanted) const {
  std::vector<int> ranks;
  for (const WorkerEnd& worker : workers_) {
    if (wanted(worker)) ranks.push_back(worker.rank);
  }
  return ranks;
}

std::string RankText(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    if (!text.empty()) text += ',';
    text += std::to_string(ranks[first]);
    if (last > first) text += '-' + std::to_string(ranks[last]);
    first = last + 1;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

}  // namespace hvd
