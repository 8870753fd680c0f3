#include "rendezvous/horovod_board.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"

namespace hvd {
namespace {

constexpr const char* kNotWanted = "-1,-1,-1,-1,-1,-1";

std::string KeyOf(const WorkerId& worker, const Placement& place) {
  return worker.host + ':' + std::to_string(place.local_rank);
}

std::string PlaceText(const Placement& p) {
  std::string text;
  for (const int number : {p.rank, p.size, p.local_rank, p.local_size,
                           p.cross_rank, p.cross_size}) {
    if (!text.empty()) text += ',';
    text += std::to_string(number);
  }
  return text;
}

bool IsPrefix(const std::vector<WorkerId>& start,
              const std::vector<WorkerId>& whole) {
  return start.size() <= whole.size() &&
         std::equal(start.begin(), start.end(), whole.begin());
}

bool IsIn(const std::vector<WorkerId>& workers, const WorkerId& worker) {
  return std::find(workers.begin(), workers.end(), worker) != workers.end();
}

}  // namespace

void HorovodBoard::Started(const StartedWorkers& started) {
  const auto plan = std::make_shared<const Plan>(started.shown.workers);
  const std::vector<Placement> places = Placements(started.shown);
  const std::set<WorkerId> wanted(started.workers.begin(),
                                  started.workers.end());
  const bool members =
      started.shown.epoch != Epoch{} && started.shown.epoch == current_.epoch;
  for (std::size_t rank = 0; rank < plan->size(); ++rank) {
    const WorkerId& worker = (*plan)[rank];
    if (!wanted.contains(worker)) continue;
    Process process;
    process.plan = plan;
    process.start_rank = static_cast<int>(rank);
    process.start_key = KeyOf(worker, places[rank]);
    process.number = ++last_number_;
    if (members) process.held = current_.epoch;
    processes_[worker] = std::move(process);
  }
}

HorovodBoard::Effects HorovodBoard::Ended(const WorkerId& worker) {
  Effects effects;
  processes_.erase(worker);
  FindMisplaced(effects);
  Settle(effects);
  return effects;
}

HorovodBoard::Effects HorovodBoard::Publish(const World& world) {
  HVD_CHECK(world.epoch > target_.epoch);
  Effects effects;
  target_ = world;
  FindMisplaced(effects);
  // The driver may have counted them as gone to a world that was never handed
  // out.
  for (const auto& [worker, process] : processes_) {
    if (!speaks_ || !process.Waits()) continue;
    if (process.IsNewcomer() && !process.told_ready) continue;
    effects.ready.emplace_back(worker, process.held);
  }
  Settle(effects);
  return effects;
}

HorovodBoard::Effects HorovodBoard::Ask(Waiter waiter, std::string_view key) {
  Effects effects;
  const auto named = keys_.find(key);
  Process* process = named != keys_.end() ? Find(named->second) : nullptr;
  if (process == nullptr) {
    effects.places.emplace_back(waiter, kNotWanted);
    return effects;
  }
  Speak(effects);
  if (process->waiter) effects.replaced.push_back(*process->waiter);
  process->waiter = waiter;
  effects.ready.emplace_back(named->second, process->held);
  Settle(effects);
  return effects;
}

std::optional<HorovodBoard::Effects> HorovodBoard::Announce(Waiter waiter,
                                                            int rank) {
  const auto found =
      std::find_if(processes_.begin(), processes_.end(), [&](const auto& item) {
        const Process& process = item.second;
        return process.IsNewcomer() && process.start_rank == rank &&
               !process.misplaced;
      });
  if (found == processes_.end()) return std::nullopt;
  Effects effects;
  Process& process = found->second;
  if (process.waiter) effects.replaced.push_back(*process.waiter);
  process.waiter = waiter;
  if (speaks_) TellReady(effects);
  Settle(effects);
  return effects;
}

HorovodBoard::Effects HorovodBoard::Register(std::string_view key,
                                             HorovodListener listener) {
  Effects effects;
  // Processes name themselves by their start: of two that were once in the same
  // place the older one has done this long ago.
  Process* who = nullptr;
  for (auto& [worker, process] : processes_) {
    if (process.IsNewcomer() || process.start_key != key) continue;
    const bool better =
        who == nullptr || (who->listener && !process.listener) ||
        (who->listener.has_value() == process.listener.has_value() &&
         process.number < who->number);
    if (better) who = &process;
  }
  if (who == nullptr) return effects;
  who->listener = std::move(listener);
  Speak(effects);
  return effects;
}

void HorovodBoard::Leave(Waiter waiter) {
  for (auto& [worker, process] : processes_) {
    if (process.waiter == waiter) process.waiter.reset();
  }
}

const HorovodListener* HorovodBoard::WhomToTell() const {
  if (target_.epoch == current_.epoch || current_.workers.empty()) {
    return nullptr;
  }
  const auto first = processes_.find(current_.workers.front());
  if (first == processes_.end()) return nullptr;
  const Process& process = first->second;
  if (process.IsNewcomer() || process.Waits() || !process.listener) {
    return nullptr;
  }
  return &*process.listener;
}

HorovodBoard::Process* HorovodBoard::Find(const WorkerId& worker) {
  const auto found = processes_.find(worker);
  return found == processes_.end() ? nullptr : &found->second;
}

// The first of them was through its hvd.init(), so all were.
void HorovodBoard::Speak(Effects& effects) {
  if (speaks_) return;
  speaks_ = true;
  for (const WorkerId& worker : current_.workers) {
    const Process* process = Find(worker);
    if (process == nullptr || process->IsNewcomer()) continue;
    effects.ready.emplace_back(worker, Epoch{});
  }
  TellReady(effects);
  FindMisplaced(effects);
}

void HorovodBoard::TellReady(Effects& effects) {
  for (auto& [worker, process] : processes_) {
    if (!process.IsNewcomer() || process.told_ready || !IsDue(process)) {
      continue;
    }
    process.told_ready = true;
    effects.ready.emplace_back(worker, Epoch{});
  }
}

// Its world can be: all that it needs are there, and were started for the same
// one. The driver hears of them at once, so that it takes in all or none.
bool HorovodBoard::IsDue(const Process& newcomer) const {
  return std::all_of(newcomer.plan->begin(), newcomer.plan->end(),
                     [&](const WorkerId& other) {
                       const auto found = processes_.find(other);
                       if (found == processes_.end()) return false;
                       const Process& process = found->second;
                       return !process.IsNewcomer() ||
                              (process.Waits() && !process.misplaced &&
                               (process.plan == newcomer.plan ||
                                *process.plan == *newcomer.plan));
                     });
}

// Its world is the one that was published, or can still come: when all that
// this one adds are there, and none of them was started for another.
bool HorovodBoard::Fits(const WorkerId& worker, const Process& newcomer) const {
  const Plan& plan = *newcomer.plan;
  if (IsIn(target_.workers, worker)) return plan == target_.workers;
  if (!IsPrefix(target_.workers, plan)) return false;
  const auto added =
      plan.begin() + static_cast<std::ptrdiff_t>(target_.workers.size());
  return std::all_of(added, plan.end(), [&](const WorkerId& other) {
    const auto found = processes_.find(other);
    return found != processes_.end() && found->second.IsNewcomer() &&
           !found->second.misplaced && IsPrefix(*found->second.plan, plan);
  });
}

void HorovodBoard::FindMisplaced(Effects& effects) {
  if (!speaks_) return;
  for (bool again = true; again;) {  // one can take others with it
    again = false;
    for (auto& [worker, process] : processes_) {
      if (!process.IsNewcomer() || process.misplaced) continue;
      if (Fits(worker, process)) continue;
      process.misplaced = true;
      again = true;
      effects.misplaced.push_back(worker);
    }
  }
}

bool HorovodBoard::CanHandOut() const {
  if (target_.epoch == current_.epoch) return false;
  const auto is_there = [&](const WorkerId& worker) {
    const auto found = processes_.find(worker);
    return found != processes_.end() && found->second.Waits() &&
           !found->second.misplaced;
  };
  // Whoever is in it no more is still in the old one, under its old names, and
  // whoever is misplaced could still speak as somebody else.
  const auto is_in_the_way = [](const auto& item) {
    const Process& process = item.second;
    return process.misplaced || (!process.IsNewcomer() && !process.Waits());
  };
  return std::all_of(target_.workers.begin(), target_.workers.end(),
                     is_there) &&
         std::none_of(processes_.begin(), processes_.end(), is_in_the_way);
}

void HorovodBoard::Settle(Effects& effects) {
  // With nobody here the world is that of workers which are still to be
  // started, and are told by their environments.
  const bool nobody = processes_.empty() && target_.epoch != current_.epoch;
  if (nobody || CanHandOut()) HandOut(effects);
}

void HorovodBoard::HandOut(Effects& effects) {
  current_ = target_;
  effects.handed_out = true;
  keys_.clear();
  const std::vector<Placement> places = Placements(current_);
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const WorkerId& worker = current_.workers[rank];
    keys_[KeyOf(worker, places[rank])] = worker;
    Process* process = Find(worker);
    if (process == nullptr) continue;
    const Waiter waiter = *std::exchange(process->waiter, std::nullopt);
    if (process->IsNewcomer()) {
      effects.admitted.push_back(waiter);
    } else {
      effects.places.emplace_back(waiter, PlaceText(places[rank]));
    }
    process->held = current_.epoch;
  }
  for (auto& [worker, process] : processes_) {
    if (process.held == current_.epoch || process.IsNewcomer()) continue;
    // One that has gone in vain once need not be asked for again.
    if (process.waiter)
      effects.places.emplace_back(*process.waiter, kNotWanted);
    process.waiter.reset();
  }
  TellReady(effects);
}

}  // namespace hvd
