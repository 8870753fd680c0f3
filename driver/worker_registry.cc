#include "driver/worker_registry.h"

#include <algorithm>
#include <utility>

#include "driver/texts.h"

namespace hvd {

WorkerRegistry::WorkerRegistry(const WorkerRegistry& other)
    : newest_(other.newest_), last_launch_(other.last_launch_) {
  for (const auto& worker : other.workers_) {
    workers_.push_back(std::make_unique<Worker>(*worker));
  }
  for (const Worker* member : other.members_) {
    members_.push_back(Find(member->end.launch));
  }
}

Worker& WorkerRegistry::Add(const WorkerId& id, int rank) {
  const LaunchId launch{++last_launch_};
  newest_[id] = launch;
  Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
  worker.end.rank = rank;
  worker.end.worker = id;
  worker.end.launch = launch;
  return worker;
}

void WorkerRegistry::SetMembers(const std::vector<LaunchId>& launches) {
  for (Worker* worker : members_) {
    worker->member = false;
    worker->leaving = !worker->HasEnded();
  }
  members_.clear();
  for (const LaunchId launch : launches) {
    Worker& worker = *Find(launch);
    worker.end.rank = static_cast<int>(members_.size());
    worker.member = true;
    worker.leaving = false;
    worker.blames.reset();  // it was another world's rank
    members_.push_back(&worker);
  }
  ForgetEnded();
}

void WorkerRegistry::ForgetEnded() {
  std::erase_if(workers_, [](const auto& worker) {
    return worker->HasEnded() && !worker->member;
  });
}

const Worker* WorkerRegistry::Find(LaunchId launch) const {
  const auto found = std::lower_bound(
      workers_.begin(), workers_.end(), launch,
      [](const auto& worker, LaunchId l) { return worker->end.launch < l; });
  return found == workers_.end() || (*found)->end.launch != launch
             ? nullptr
             : found->get();
}

Worker* WorkerRegistry::Find(LaunchId launch) {
  return const_cast<Worker*>(std::as_const(*this).Find(launch));
}

Worker* WorkerRegistry::FindLive(const WorkerId& id) {
  const auto newest = newest_.find(id);
  if (newest == newest_.end()) return nullptr;
  Worker* worker = Find(newest->second);
  return worker == nullptr || worker->HasEnded() ? nullptr : worker;
}

std::vector<Worker*> WorkerRegistry::All(const Test& wanted) {
  std::vector<Worker*> found;
  for (const auto& worker : workers_) {
    if (wanted(*worker)) found.push_back(worker.get());
  }
  return found;
}

std::vector<WorkerId> WorkerRegistry::MemberIds() const {
  std::vector<WorkerId> ids;
  ids.reserve(members_.size());
  for (const Worker* member : members_) ids.push_back(member->end.worker);
  return ids;
}

bool WorkerRegistry::AllMembers(const Test& test) const {
  return std::all_of(members_.begin(), members_.end(),
                     [&](const Worker* worker) { return test(*worker); });
}

bool WorkerRegistry::AnyMember(const Test& test) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const Worker* worker) { return test(*worker); });
}

bool WorkerRegistry::Any(const Test& test) const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [&](const auto& worker) { return test(*worker); });
}

int WorkerRegistry::Count(const Test& wanted) const {
  return static_cast<int>(
      std::count_if(workers_.begin(), workers_.end(),
                    [&](const auto& worker) { return wanted(*worker); }));
}

std::vector<int> WorkerRegistry::Ranks(const Test& wanted) const {
  std::vector<int> ranks;
  for (const Worker* worker : members_) {
    if (wanted(*worker)) ranks.push_back(worker->end.rank);
  }
  return ranks;
}

std::size_t WorkerRegistry::Hash::operator()(const WorkerId& id) const {
  return std::hash<std::string>{}(id.host) + static_cast<std::size_t>(id.slot);
}

std::string RankText(const std::vector<int>& ranks) {
  std::string text;
  std::size_t named = 0;
  for (std::size_t first = 0; first < ranks.size();) {
    if (++named > kMostNamed) {
      text += ",... (" + std::to_string(ranks.size()) + " ranks)";
      break;
    }
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
