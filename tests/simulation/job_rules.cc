#include "tests/simulation/job_rules.h"

#include <algorithm>
#include <variant>

#include "base/overloaded.h"
#include "driver/explain.h"

namespace hvd::testing {

void JobRules::Watch(const Decision& decision) {
  now_ = Explain(decision.at, decision.event, decision.actions);
  Require(!ended_, "a job that has ended decides nothing more");
  Hear(decision.event);
  for (const Action& action : decision.actions) {
    Require(!ended_, "a job that has ended does nothing more");
    std::visit([this](const auto& a) { See(a); }, action);
  }
}

void JobRules::Hear(const Event& event) {
  const auto end = [this](LaunchId launch) {
    const WorkerId id = lives_.at(launch).id;
    lives_.erase(launch);
    taken_.erase(id);
    held_.erase(id);
    return id;
  };
  if (const auto* hosts = std::get_if<HostsDiscovered>(&event)) {
    listed_.clear();
    for (const HostSlots& host : hosts->hosts) listed_[host.host] = host.slots;
  } else if (const auto* started = std::get_if<WorkerStarted>(&event)) {
    lives_.at(started->launch).runs = true;
  } else if (const auto* failed = std::get_if<WorkerStartFailed>(&event)) {
    end(failed->launch);
  } else if (const auto* ready = std::get_if<WorkerReady>(&event)) {
    held_[ready->worker] = ready->after;
  } else if (const auto* exited = std::get_if<WorkerExited>(&event)) {
    const WorkerId id = end(exited->launch);
    const bool failure =
        exited->status.code != 0 && !stopped_.contains(exited->launch);
    if (failure) ++failures_[id];
  }
}

void JobRules::See(const PublishWorld& action) {
  const World& next = action.world;
  ++worlds_;
  Require(next.epoch > world_.epoch, "the epoch only grows");
  const int size = static_cast<int>(next.workers.size());
  Require(size >= options_.min_workers, "no world is below the minimum");
  Require(!options_.max_workers || size <= *options_.max_workers,
          "no world is above the maximum");
  const std::set<WorkerId> places(next.workers.begin(), next.workers.end());
  Require(static_cast<int>(places.size()) == size, "a slot has one worker");
  // Who never asked for a world is new; newcomers come last.
  bool newcomers = false;
  for (const WorkerId& id : next.workers) {
    const auto held = held_.find(id);
    const bool is_new = held == held_.end() || held->second == Epoch{};
    const bool was_in = std::find(world_.workers.begin(), world_.workers.end(),
                                  id) != world_.workers.end();
    if (is_new && !was_in) newcomers = true;
    Require(is_new || !newcomers, "newcomers come after the survivors");
  }
  world_ = next;
}

void JobRules::See(const StartWorker& action) {
  Require(action.launch > last_launch_, "a launch number is used once");
  last_launch_ = action.launch;
  Require(taken_.insert(action.worker).second, "a slot has one worker");
  const auto host = listed_.find(action.worker.host);
  Require(host != listed_.end() && action.worker.slot < host->second,
          "nothing starts on a slot that is not listed");
  Require(options_.ledger.cooldown ||
              failures_[action.worker] < options_.ledger.slot_failures,
          "nothing starts on a quarantined slot");
  lives_[action.launch] = {action.worker, false};
}

void JobRules::See(const StopWorker& action) {
  const auto life = lives_.find(action.launch);
  Require(life != lives_.end() && life->second.runs,
          "only what runs is stopped");
  stopped_.insert(action.launch);
}

void JobRules::See(const NotifyLoss& action) {
  Require(action.epoch <= world_.epoch, "a loss is of a world that was");
}

void JobRules::See(const Say& action) {
  Require(!action.text.empty() && action.text.size() < 1000,
          "a line has words, and not too many");
}

void JobRules::See(const EndJob& action) {
  ended_ = true;
  const Outcome& outcome = action.outcome;
  Require(lives_.empty(), "a job ends when its workers have");
  Require(outcome.verdict == Verdict::kSucceeded || !outcome.reason.empty(),
          "a failure has a reason");
  const bool all_well = std::all_of(
      outcome.workers.begin(), outcome.workers.end(),
      [](const WorkerEnd& w) { return w.status && w.status->success(); });
  Require(outcome.verdict != Verdict::kSucceeded || all_well,
          "a job succeeds when its last world has");
}

void JobRules::Require(bool holds, const std::string& rule) {
  if (!holds && broken_.empty()) broken_ = rule + ": " + now_;
}

}  // namespace hvd::testing
