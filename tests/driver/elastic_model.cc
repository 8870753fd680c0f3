#include "tests/driver/elastic_model.h"

#include <algorithm>
#include <csignal>

#include "driver/explain.h"

namespace hvd::testing {
namespace {

using Kind = Move::Kind;

}  // namespace

std::string ToText(const Move& move) {
  constexpr const char* kNames[] = {
      "start", "ask",    "go-home", "obey",  "missed", "fail-to-start",
      "crash", "finish", "hang",    "hosts", "lose",   "wait"};
  return std::string(kNames[static_cast<int>(move.kind)]) + ' ' +
         std::to_string(move.n);
}

ElasticModel::ElasticModel(const DriverOptions& options,
                           std::vector<HostList> menu, const Fault* fault)
    : options_(options),
      menu_(std::move(menu)),
      fault_(fault),
      driver_(options, now_) {}

std::vector<Move> ElasticModel::Duties() const {
  std::vector<Move> moves;
  for (const auto& [launch, process] : processes_) {
    if (!process.runs) {
      moves.push_back({Kind::kStart, launch});
    } else if (process.told_to_stop) {
      moves.push_back({Kind::kObey, launch});
    } else if (process.hangs) {
      if (!process.missed) moves.push_back({Kind::kMissed, launch});
    } else if (process.held != Epoch{} && !InWorld(process.id)) {
      moves.push_back({Kind::kGoHome, launch});
    } else if (MayAsk(process)) {
      moves.push_back({Kind::kAsk, launch});
    }
  }
  return moves;
}

std::vector<Move> ElasticModel::Hazards() const {
  std::vector<Move> moves;
  std::set<std::string> hosts;
  for (const auto& [launch, process] : processes_) {
    if (hosts.insert(process.id.host).second) {
      moves.push_back({Kind::kLose, launch});
    }
    if (!process.runs) {
      moves.push_back({Kind::kFailToStart, launch});
      continue;
    }
    moves.push_back({Kind::kCrash, launch});
    if (process.held != Epoch{} && !process.asks) {
      moves.push_back({Kind::kFinish, launch});
    }
    if (process.spoke && !process.hangs) {
      moves.push_back({Kind::kHang, launch});
    }
  }
  for (int list = 0; list < static_cast<int>(menu_.size()); ++list) {
    if (list != list_ || !lost_.empty()) moves.push_back({Kind::kHosts, list});
  }
  if (driver_.NextDeadline()) moves.push_back({Kind::kWait, 0});
  return moves;
}

void ElasticModel::Do(const Move& move) {
  const LaunchId launch{move.n};
  switch (move.kind) {
    case Kind::kStart:
      processes_.at(move.n).runs = true;
      return Feed(WorkerStarted{launch, 100 + move.n});
    case Kind::kAsk: {
      Process& process = processes_.at(move.n);
      process.asks = true;
      process.spoke = true;
      const WorkerReady ready{process.id, process.held};
      FormIfAllAsk();
      return Feed(ready);
    }
    case Kind::kMissed:
      processes_.at(move.n).missed = true;
      return Feed(WorkerStopped{launch});
    case Kind::kGoHome:
    case Kind::kFinish:
      return End(move.n, {});
    case Kind::kObey:
      return End(move.n, {0, SIGTERM});
    case Kind::kFailToStart:
      gone_.insert(processes_.at(move.n).id);
      processes_.erase(move.n);
      return Feed(
          WorkerStartFailed{launch, Error{ErrorCode::kUnavailable, "no"}});
    case Kind::kCrash:
      NoteFailure(processes_.at(move.n));
      return End(move.n, {9, 0});
    case Kind::kHang:
      processes_.at(move.n).hangs = true;
      return;
    case Kind::kHosts:
      list_ = move.n;
      lost_.clear();
      return Feed(HostsDiscovered{menu_[static_cast<std::size_t>(move.n)]});
    case Kind::kLose:
      return LoseHost(std::string(processes_.at(move.n).id.host));
    case Kind::kWait:
      now_ = std::max(now_, *driver_.NextDeadline());
      return Feed(Tick{});
  }
}

// Who was told to end, or has lost its place, cannot fail any more.
void ElasticModel::NoteFailure(const Process& process) {
  const bool left = process.was_member && !InWorld(process.id);
  if (!process.told_to_stop && !left && IsListed(process.id)) {
    ++failures_[process.id];
  }
}

void ElasticModel::LoseHost(const std::string& host) {
  lost_.insert(host);
  for (auto next = processes_.begin(); next != processes_.end();) {
    const bool lost = next->second.id.host == host;
    if (lost) gone_.insert(next->second.id);
    next = lost ? processes_.erase(next) : std::next(next);
  }
  Feed(HostLost{host, Error{ErrorCode::kTimeout, "silent"}});
}

bool ElasticModel::IsListed(const WorkerId& id) const {
  if (lost_.contains(id.host)) return false;
  const HostList& hosts = menu_[static_cast<std::size_t>(list_)];
  return std::any_of(hosts.begin(), hosts.end(), [&](const HostSlots& host) {
    return host.host == id.host && id.slot < host.slots;
  });
}

void ElasticModel::End(int launch, ExitStatus status) {
  gone_.insert(processes_.at(launch).id);
  processes_.erase(launch);
  Feed(WorkerExited{LaunchId{launch}, status});
}

bool ElasticModel::Steady() const {
  std::size_t training = 0;
  for (const auto& [launch, p] : processes_) {
    if (!p.runs || p.asks || p.hangs || p.told_to_stop ||
        p.held != world_.epoch || !InWorld(p.id)) {
      return false;
    }
    ++training;
  }
  return formed_ && training == world_.workers.size();
}

std::string ElasticModel::Describe() const {
  std::string text = driver_.Describe() + " |" + std::to_string(list_) +
                     (formed_    ? 'f'
                      : spoiled_ ? 's'
                                 : '-');
  for (const std::string& host : lost_) text += '-' + host;
  for (const auto& [launch, p] : processes_) {
    text += ' ' + ToString(p.id);
    text += p.runs ? 'r' : 's';
    if (p.asks) text += 'a';
    if (p.hangs) text += p.missed ? 'H' : 'h';
    if (p.spoke) text += 'k';
    if (p.was_member) text += 'm';
    if (p.told_to_stop) text += 't';
    if (!InWorld(p.id)) text += 'o';
    text += p.held == Epoch{} ? '0' : p.held == world_.epoch ? '=' : '<';
  }
  return text;
}

void ElasticModel::MustSettle() const {
  constexpr int kManySteps = 2000;
  ElasticModel model(*this);
  for (int step = 0; step < kManySteps; ++step) {
    if (model.ended_ || model.Steady()) return;
    const std::vector<Move> duties = model.Duties();
    if (!duties.empty()) {
      model.Do(duties.front());
      continue;
    }
    model.Require(model.driver_.NextDeadline().has_value(),
                  "nothing is awaited and no deadline is set, though no whole "
                  "world trains");
    model.Do({Kind::kWait, 0});
  }
  model.Require(false, "it does not settle");
}

void ElasticModel::Feed(const Event& event) {
  if (fault_ != nullptr && !fault_->hears(event)) return;
  const std::optional<Instant> before = driver_.NextDeadline();
  std::vector<Action> actions = driver_.On(event, now_);
  if (fault_ != nullptr) fault_->bends(actions);
  if (std::holds_alternative<Tick>(event) && before && *before <= now_) {
    Require(driver_.NextDeadline() != before, "the driver spins");
  }
  for (const Action& action : actions) {
    Require(!ended_, "a job that has ended does nothing more");
    std::visit([this](const auto& a) { Perform(a); }, action);
  }
}

void ElasticModel::Perform(const PublishWorld& action) {
  const World& world = action.world;
  Require(world.epoch > world_.epoch, "the epoch only grows");
  const int size = static_cast<int>(world.workers.size());
  Require(size >= options_.min_workers, "no world is below the minimum");
  Require(!options_.max_workers || size <= *options_.max_workers,
          "no world is above the maximum");
  const std::set<WorkerId> places(world.workers.begin(), world.workers.end());
  Require(static_cast<int>(places.size()) == size, "a slot has one worker");
  if (formed_) {
    std::vector<WorkerId> survivors;
    for (const WorkerId& id : world.workers) {
      const auto is_it = [&](const auto& e) {
        return e.second.id == id && e.second.held == world_.epoch;
      };
      if (std::any_of(processes_.begin(), processes_.end(), is_it)) {
        survivors.push_back(id);
      }
    }
    Require(
        std::equal(survivors.begin(), survivors.end(), world.workers.begin()),
        "newcomers come after the survivors");
  }
  world_ = world;
  formed_ = false;
  spoiled_ = false;
  gone_.clear();
  for (auto& [launch, process] : processes_) {
    if (InWorld(process.id)) process.was_member = true;
  }
  FormIfAllAsk();
}

void ElasticModel::Perform(const StartWorker& action) {
  for (const auto& [launch, process] : processes_) {
    Require(process.id != action.worker, "a slot has one worker");
  }
  Require(IsListed(action.worker),
          "nothing starts on a slot that is not listed");
  Require(options_.ledger.cooldown ||
              failures_[action.worker] < options_.ledger.slot_failures,
          "nothing starts on a quarantined slot");
  const int launch = static_cast<int>(action.launch);
  const bool member = InWorld(action.worker) && !gone_.contains(action.worker);
  Require(
      processes_
          .emplace(launch, Process{.id = action.worker, .was_member = member})
          .second,
      "a launch number is used once");
}

void ElasticModel::Perform(const StopWorker& action) {
  const auto found = processes_.find(static_cast<int>(action.launch));
  Require(found != processes_.end() && found->second.runs,
          "only what runs is stopped");
  found->second.told_to_stop = true;
}

void ElasticModel::Perform(const NotifyLoss& action) {
  Require(action.epoch <= world_.epoch, "a loss is of a world that was");
  if (action.epoch != world_.epoch) return;
  spoiled_ = true;
  const auto rank = static_cast<std::size_t>(action.rank);
  Require(rank < world_.workers.size(), "a loss is of a member");
  const WorkerId& lost = world_.workers[rank];
  for (const auto& [launch, process] : processes_) {
    Require(process.id != lost || !process.asks || process.hangs,
            "who waits for the world is not given up");
  }
}

void ElasticModel::Perform(const Say& action) {
  Require(!action.text.empty(), "a line has words");
}

void ElasticModel::Perform(const EndJob& action) {
  ended_ = true;
  outcome_ = action.outcome;
  Require(processes_.empty(), "a job ends when its workers have");
  Require(outcome_.verdict == Verdict::kSucceeded || !outcome_.reason.empty(),
          "a failure has a reason");
  if (outcome_.verdict != Verdict::kSucceeded) return;
  for (const WorkerEnd& worker : outcome_.workers) {
    Require(worker.status && worker.status->success(),
            "a job succeeds when its last world has");
  }
  Require(!outcome_.workers.empty(), "a job that succeeds had a world");
}

bool ElasticModel::InWorld(const WorkerId& id) const {
  return std::find(world_.workers.begin(), world_.workers.end(), id) !=
         world_.workers.end();
}

// A newcomer once it is ready; a member when its ring is broken, or at its next
// commit after another world was published.
bool ElasticModel::MayAsk(const Process& process) const {
  if (process.asks || process.hangs) return false;
  if (process.held != world_.epoch || process.held == Epoch{}) return true;
  return RingIsBroken();
}

bool ElasticModel::RingIsBroken() const {
  int whole = 0;
  for (const auto& [launch, process] : processes_) {
    if (process.held == world_.epoch && !process.asks && !process.hangs)
      ++whole;
  }
  return formed_ && whole < static_cast<int>(world_.workers.size());
}

void ElasticModel::FormIfAllAsk() {
  if (formed_ || spoiled_ || world_.workers.empty()) return;
  std::vector<Process*> members;
  for (auto& [launch, process] : processes_) {
    if (process.asks && InWorld(process.id)) members.push_back(&process);
  }
  if (members.size() < world_.workers.size()) return;
  formed_ = true;
  for (Process* member : members) {
    member->asks = false;
    member->held = world_.epoch;
  }
}

void ElasticModel::Require(bool holds, const std::string& rule) const {
  if (!holds) throw Violation(rule + "; the driver: " + driver_.Describe());
}

}  // namespace hvd::testing
