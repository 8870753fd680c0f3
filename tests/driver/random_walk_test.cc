// A random walk of everything that can happen to a job, in any order, against
// what must hold whatever happens.
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>

#include "driver/elastic_driver.h"
#include "driver/explain.h"
#include "tests/support/chance.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

enum class Life { kStarting, kRunning, kEnded };

// Carries out the actions and checks each against the invariants.
class Witness {
 public:
  explicit Witness(int workers) : workers_(workers) {}

  void Perform(const std::vector<Action>& actions) {
    for (const Action& action : actions) {
      trace += "  " + ToText(action) + '\n';
      INFO("the walk so far:\n" << trace);
      REQUIRE_FALSE(ended_);
      std::visit([this](const auto& a) { Check(a); }, action);
    }
  }

  bool ended() const { return ended_; }
  const Outcome& outcome() const { return outcome_; }
  std::vector<LaunchId> In(Life life) const {
    std::vector<LaunchId> launches;
    for (const auto& [launch, now] : lives_) {
      if (now == life) launches.push_back(launch);
    }
    return launches;
  }
  void Set(LaunchId launch, Life life) { lives_[launch] = life; }
  void EndAllOn(const std::string& host) {
    for (auto& [launch, life] : lives_) {
      if (hosts_.at(launch) == host) life = Life::kEnded;
    }
  }

  std::string trace;

 private:
  void Check(const PublishWorld& action) {
    REQUIRE(action.world.epoch > epoch_);
    epoch_ = action.world.epoch;
    REQUIRE(static_cast<int>(action.world.workers.size()) == workers_);
    const std::set<WorkerId> places(action.world.workers.begin(),
                                    action.world.workers.end());
    REQUIRE(places.size() == action.world.workers.size());
    published_ = action.world;
  }
  void Check(const StartWorker& action) {
    REQUIRE(action.rank >= 0);
    REQUIRE(action.rank < static_cast<int>(published_.workers.size()));
    REQUIRE(published_.workers[static_cast<std::size_t>(action.rank)] ==
            action.worker);
    REQUIRE(ranks_.insert(action.rank).second);
    REQUIRE(lives_.emplace(action.launch, Life::kStarting).second);
    hosts_[action.launch] = action.worker.host;
  }
  void Check(const StopWorker& action) {
    REQUIRE(lives_.count(action.launch) == 1);
    REQUIRE(lives_[action.launch] == Life::kRunning);
    stopped_.insert(action.launch);
  }
  void Check(const NotifyLoss& action) { REQUIRE(action.epoch == epoch_); }
  void Check(const Say& action) { REQUIRE_FALSE(action.text.empty()); }
  void Check(const EndJob& action) {
    ended_ = true;
    outcome_ = action.outcome;
    for (const WorkerEnd& worker : outcome_.workers) {
      REQUIRE(worker.told_to_stop == (stopped_.count(worker.launch) == 1));
    }
    const bool all_well =
        std::all_of(outcome_.workers.begin(), outcome_.workers.end(),
                    [](const WorkerEnd& w) {
                      return w.status && w.status->success() && !w.told_to_stop;
                    });
    if (outcome_.verdict == Verdict::kSucceeded) {
      REQUIRE(all_well);
      REQUIRE(static_cast<int>(outcome_.workers.size()) == workers_);
    } else {
      REQUIRE_FALSE(outcome_.reason.empty());
    }
  }

  int workers_;
  World published_;
  Epoch epoch_{};
  std::set<int> ranks_;
  std::map<LaunchId, Life> lives_;
  std::map<LaunchId, std::string> hosts_;
  std::set<LaunchId> stopped_;
  bool ended_ = false;
  Outcome outcome_;
};

class Walk {
 public:
  explicit Walk(std::uint32_t seed)
      : random_(seed),
        workers_(1 + Pick(5)),
        witness_(workers_),
        driver_(Options(), now_) {}

  void Run() {
    for (int step = 0; step < 60 && !witness_.ended(); ++step) Step();
    Finish();
  }

 private:
  DriverOptions Options() {
    DriverOptions options{.workers = workers_, .start_timeout = 20s};
    if (Pick(3) == 0) options.job_timeout = std::chrono::seconds(1 + Pick(90));
    return options;
  }

  int Pick(int below) {
    return static_cast<int>(random_() % static_cast<unsigned>(below));
  }

  void Feed(const Event& event) {
    witness_.trace += ToText(event) + '\n';
    witness_.Perform(driver_.On(event, now_));
  }

  // Time goes on as a loop would let it: with the ticks asked for.
  void Pass(Duration time) {
    const Instant until = now_ + time;
    while (driver_.NextDeadline() && *driver_.NextDeadline() <= until) {
      REQUIRE(*driver_.NextDeadline() >= now_);
      now_ = std::max(now_, *driver_.NextDeadline());
      const std::optional<Instant> before = driver_.NextDeadline();
      Feed(Tick{});
      REQUIRE(driver_.NextDeadline() != before);  // no spinning
    }
    now_ = until;
  }

  void Exit(LaunchId launch, ExitStatus status) {
    witness_.Set(launch, Life::kEnded);
    Feed(WorkerExited{launch, status});
  }

  void LoseHost(const std::string& host) {
    witness_.EndAllOn(host);
    Feed(HostLost{host, Error{ErrorCode::kTimeout, "silent"}});
  }

  ExitStatus AnyStatus() {
    switch (Pick(4)) {
      case 0:
        return {1 + Pick(255), 0};
      case 1:
        return {0, SIGKILL};
      default:
        return {};
    }
  }

  void Answer(LaunchId launch) {
    if (Pick(8) == 0) {
      witness_.Set(launch, Life::kEnded);
      Feed(WorkerStartFailed{launch, Error{ErrorCode::kNotFound, "no"}});
    } else {
      witness_.Set(launch, Life::kRunning);
      Feed(WorkerStarted{launch, 1000 + static_cast<int>(launch)});
    }
  }

  void Step() {
    const auto starting = witness_.In(Life::kStarting);
    const auto running = witness_.In(Life::kRunning);
    switch (Pick(12)) {
      case 0:
        Feed(HostsDiscovered{{{"a", 1 + Pick(3)}, {"b", 1 + Pick(3)}}});
        break;
      case 1:
      case 2:
      case 3:
        if (!starting.empty()) Answer(starting[Choose(starting)]);
        break;
      case 4:
      case 5:
        Feed(WorkerReady{{Pick(2) == 0 ? "a" : "b", Pick(3)},
                         Epoch{static_cast<std::uint64_t>(Pick(2))}});
        break;
      case 9:
        Feed(WorkerBlames{{Pick(2) == 0 ? "a" : "b", Pick(3)},
                          Epoch{static_cast<std::uint64_t>(Pick(2))},
                          Pick(5) - 1});
        break;
      case 6:
        if (!running.empty()) Exit(running[Choose(running)], AnyStatus());
        break;
      case 7:
        if (Pick(6) == 0) Feed(SignalReceived{Pick(2) == 0 ? SIGINT : SIGTERM});
        break;
      case 10:
        if (Pick(8) == 0) LoseHost(Pick(2) == 0 ? "a" : "b");
        break;
      case 8:
        if (Pick(12) == 0) Feed(LauncherLost{Error{ErrorCode::kInternal, "x"}});
        break;
      default:
        Pass(Duration{Pick(8000)});
    }
  }

  std::size_t Choose(const std::vector<LaunchId>& launches) {
    return static_cast<std::size_t>(Pick(static_cast<int>(launches.size())));
  }

  // Whatever happened before: hosts, answers and exits for all end the job.
  void Finish() {
    if (!witness_.ended()) Feed(HostsDiscovered{{{"a", 5}}});
    while (!witness_.ended()) {
      const auto starting = witness_.In(Life::kStarting);
      const auto running = witness_.In(Life::kRunning);
      if (!starting.empty()) {
        Answer(starting.front());
      } else {
        REQUIRE_FALSE(running.empty());
        Exit(running.front(), {});
      }
    }
    REQUIRE(driver_.ended());
    REQUIRE(driver_.On(SignalReceived{SIGINT}, now_).empty());
  }

  std::mt19937 random_;
  int workers_;
  Witness witness_;
  Instant now_{};
  ElasticDriver driver_;
};

}  // namespace

TEST_CASE("ElasticDriver keeps its invariants on every random walk",
          "[driver][unit]") {
  const std::uint32_t seed = testing::ChooseSeed();
  for (std::uint32_t i = 0; i < 3000; ++i) {
    CAPTURE(seed + i);  // HVD_SEED=<that> runs it first
    Walk walk(seed + i);
    walk.Run();
  }
}

}  // namespace hvd
