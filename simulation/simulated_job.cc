#include "simulation/simulated_job.h"

#include <algorithm>
#include <csignal>
#include <utility>
#include <variant>

#include "rendezvous/v1_message.h"

namespace hvd {
namespace {

using namespace std::chrono_literals;

// What passes between two processes of one job, or from a fault to its notice.
constexpr Duration kSoonest{1};
constexpr Duration kSoon{50};
constexpr int kSlowness = 10;
// No wait of the driver is longer, but for --elastic-timeout.
constexpr Duration kLongAfter{3'600'000};

}  // namespace

SimulatedJob::SimulatedJob(const SimulationOptions& options,
                           const Clock& stopwatch, SimulationHandlers handlers)
    : options_(options),
      stopwatch_(stopwatch),
      handlers_(std::move(handlers)),
      random_(options.spec.seed),
      driver_(options.driver, time_.now()),
      hosts_(options.spec) {}

std::optional<Outcome> SimulatedJob::Run() {
  const Instant begin = time_.now();
  const Instant latest = begin + options_.spec.length +
                         options_.driver.elastic_timeout + kLongAfter;
  for (const Fault& fault : options_.spec.faults) {
    time_.After(fault.at, [this, &fault] { Do(fault); });
  }
  time_.After(options_.spec.length, [this] {
    done_ = true;
    if (formed_) BeDone();
  });
  TellHosts();
  while (!outcome_) {
    const std::optional<Instant> deadline = driver_.NextDeadline();
    const std::optional<Instant> next = time_.next();
    if (!next && !deadline) return std::nullopt;
    if (std::min(next.value_or(latest), deadline.value_or(latest)) >= latest) {
      return std::nullopt;
    }
    if (next && (!deadline || *next <= *deadline)) {
      time_.Step();
    } else {
      time_.GoOnTo(std::max(*deadline, time_.now()));
      Feed(Tick{});
    }
  }
  return outcome_;
}

void SimulatedJob::Feed(const Event& event) {
  if (outcome_) return;
  const Instant before = stopwatch_.Now();
  const std::vector<Action> actions = driver_.On(event, time_.now());
  const auto took = stopwatch_.Now() - before;
  handlers_.on_decision({Since(Instant{}), event, actions, took});
  for (const Action& action : actions) {
    std::visit([this](const auto& a) { Perform(a); }, action);
  }
}

// Who trains hears of it at its next commit, who waits at once.
void SimulatedJob::Perform(const PublishWorld& action) {
  world_ = action.world;
  places_ = {world_.workers.begin(), world_.workers.end()};
  gone_.clear();
  formed_ = false;
  spoiled_ = false;
  asking_ = 0;
  for (auto& [launch, process] : processes_) {
    const bool member = InWorld(process.id);
    if (member) process.was_member = true;
    if (member && process.asks) {
      ++asking_;
    } else if (process.held != Epoch{}) {
      const Duration until = process.asks
                                 ? Between(kSoonest, kSoon)
                                 : Between(kSoonest, options_.spec.commit);
      time_.After(until, [this, id = launch, news = world_.epoch] {
        Commit(id, news);
      });
    }
  }
  FormIfAllAsk();
}

void SimulatedJob::Perform(const StartWorker& action) {
  const bool member = InWorld(action.worker) && !gone_.contains(action.worker);
  processes_[action.launch] = {.id = action.worker, .was_member = member};
  newest_[action.worker] = action.launch;
  time_.After(Between(kSoonest, kSoon),
              [this, launch = action.launch] { Spawn(launch); });
}

void SimulatedJob::Perform(const StopWorker& action) {
  Process* process = FindRunning(action.launch);
  if (process == nullptr) return;
  process->told_to_stop = true;
  const bool killed = process->hangs || action.first_signal == SIGKILL;
  const int signo = killed ? SIGKILL : action.first_signal;
  const Duration until =
      process->hangs ? action.grace : Between(kSoonest, kSoon);
  time_.After(until, [this, launch = action.launch, signo] {
    Exit(launch, {0, signo});
  });
}

void SimulatedJob::Perform(const NotifyLoss& action) {
  if (action.epoch == world_.epoch) spoiled_ = true;
}

void SimulatedJob::Perform(const Say&) {}

void SimulatedJob::Perform(const EndJob& action) { outcome_ = action.outcome; }

void SimulatedJob::Spawn(LaunchId launch) {
  const auto found = processes_.find(launch);
  if (found == processes_.end()) return;
  const WorkerId id = found->second.id;
  if (hosts_.IsDead(id.host)) {
    gone_.insert(id);
    processes_.erase(found);
    return Feed(WorkerStartFailed{
        launch,
        Error{ErrorCode::kUnavailable, "host " + id.host + " is gone"}});
  }
  found->second.runs = true;
  const Duration start = options_.spec.start;
  time_.After(
      Between(start / 2, start * 3 / 2) * (hosts_.IsSlow(id) ? kSlowness : 1),
      [this, launch] { Come(launch); });
  Feed(WorkerStarted{launch, 1000 + static_cast<int>(launch)});
}

void SimulatedJob::Come(LaunchId launch) {
  const Process* process = FindRunning(launch);
  if (process == nullptr || process->hangs || process->told_to_stop) return;
  if (hosts_.IsBad(process->id)) return Exit(launch, {1, 0});
  Ask(launch);
}

void SimulatedJob::Ask(LaunchId launch) {
  Process& process = *FindRunning(launch);
  process.asks = true;
  if (InWorld(process.id)) ++asking_;
  const WorkerReady ready{process.id, process.held};
  FormIfAllAsk();
  Feed(ready);
}

// A commit after which the worker looks for news, and finds some.
void SimulatedJob::Commit(LaunchId launch, Epoch news) {
  const Process* process = FindRunning(launch);
  if (process == nullptr || process->hangs || news != world_.epoch) return;
  if (!InWorld(process->id)) {
    if (process->was_member) Exit(launch, {});
  } else if (!process->asks && process->held != world_.epoch) {
    Ask(launch);
  }
}

// It asks for news of its world again and again; a collective a commit.
void SimulatedJob::SayStillThere(LaunchId launch, Epoch epoch) {
  const Process* process = FindRunning(launch);
  if (process == nullptr || process->hangs || process->asks ||
      process->held != epoch || epoch != world_.epoch) {
    return;
  }
  time_.After(kLongPoll,
              [this, launch, epoch] { SayStillThere(launch, epoch); });
  Feed(WorkerHeard{
      process->id, epoch,
      static_cast<std::uint64_t>(Since(formed_at_) / options_.spec.commit)});
}

void SimulatedJob::Exit(LaunchId launch, ExitStatus status) {
  const Process* found = FindRunning(launch);
  if (found == nullptr) return;
  const Process process = *found;
  if (process.asks && InWorld(process.id) && !formed_) --asking_;
  gone_.insert(process.id);
  processes_.erase(launch);
  if (!status.success() && !process.asks) BreakRing(process.held);
  Feed(WorkerExited{launch, status});
}

// The others of a world notice that it is broken.
void SimulatedJob::BreakRing(Epoch epoch) {
  if (epoch == Epoch{}) return;
  for (const auto& [launch, process] : processes_) {
    if (process.held != epoch || process.asks) continue;
    time_.After(Between(kSoonest, kSoon), [this, id = launch, epoch] {
      const Process* survivor = FindRunning(id);
      if (survivor == nullptr || survivor->hangs || survivor->asks ||
          survivor->held != epoch) {
        return;
      }
      Ask(id);
    });
  }
}

void SimulatedJob::FormIfAllAsk() {
  if (formed_ || spoiled_ || places_.empty() || asking_ < places_.size()) {
    return;
  }
  formed_ = true;
  formed_at_ = time_.now();
  asking_ = 0;
  for (auto& [launch, process] : processes_) {
    if (!process.asks || !InWorld(process.id)) continue;
    process.asks = false;
    process.held = world_.epoch;
    time_.After(Between(kSoonest, kSoon),
                [this, id = launch, epoch = world_.epoch] {
                  SayStillThere(id, epoch);
                });
  }
  if (done_) BeDone();
}

void SimulatedJob::BeDone() {
  for (const auto& [launch, process] : processes_) {
    if (process.held != world_.epoch || process.asks) continue;
    time_.After(Between(kSoonest, options_.spec.commit),
                [this, id = launch, epoch = world_.epoch] {
                  const Process* member = FindRunning(id);
                  if (member == nullptr || member->hangs || member->asks ||
                      member->held != epoch) {
                    return;
                  }
                  Exit(id, {});
                });
  }
}

SimulatedJob::Process* SimulatedJob::FindRunning(LaunchId launch) {
  const auto found = processes_.find(launch);
  return found == processes_.end() || !found->second.runs ? nullptr
                                                          : &found->second;
}

int SimulatedJob::Pick(std::size_t below) {
  return static_cast<int>(random_() % below);
}

Duration SimulatedJob::Between(Duration least, Duration most) {
  const auto more = static_cast<std::uint64_t>((most - least).count()) + 1;
  return least + Duration{static_cast<Duration::rep>(random_() % more)};
}

Duration SimulatedJob::Since(Instant then) const {
  return std::chrono::duration_cast<Duration>(time_.now() - then);
}

}  // namespace hvd
