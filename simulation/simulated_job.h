// SimulatedJob: the driver that hvdrun uses, among hosts and workers that are
// simulated, in simulated time.
//
// Nothing is started and no time is waited for; the stopwatch alone is real.
// The same options make the same decisions.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "driver/elastic_driver.h"
#include "simulation/simulated_hosts.h"
#include "simulation/simulated_time.h"
#include "simulation/simulation_spec.h"

namespace hvd {

struct SimulationOptions {
  SimulationSpec spec;
  DriverOptions driver;
  Duration collective_timeout{300'000};
  Duration discovery_interval{1'000};
};

// One call of the driver.
struct Decision {
  Duration at;  // simulated, since the start
  const Event& event;
  const std::vector<Action>& actions;
  std::chrono::nanoseconds took;  // by the stopwatch
};

struct SimulationHandlers {
  std::function<void(const Decision&)> on_decision;
  // "kill h3/2", before what the driver makes of it.
  std::function<void(Duration at, const std::string& text)> on_fault;
};

class SimulatedJob {
 public:
  SimulatedJob(const SimulationOptions& options, const Clock& stopwatch,
               SimulationHandlers handlers);

  // How the job ends; nullopt: it does not, though all limits are over.
  std::optional<Outcome> Run();

 private:
  // A worker that lives, or is about to.
  struct Process {
    WorkerId id;
    bool runs = false;
    bool asks = false;  // for a world newer than `held`
    bool hangs = false;
    bool told_to_stop = false;
    bool was_member = false;  // without a place it goes home
    Epoch held{};
  };

  void Feed(const Event& event);
  void Perform(const PublishWorld& action);
  void Perform(const StartWorker& action);
  void Perform(const StopWorker& action);
  void Perform(const NotifyLoss& action);
  void Perform(const Say& action);
  void Perform(const EndJob& action);

  // What workers do.
  void Spawn(LaunchId launch);
  void Come(LaunchId launch);
  void Ask(LaunchId launch);
  void Commit(LaunchId launch, Epoch news);
  void SayStillThere(LaunchId launch, Epoch epoch);
  void Exit(LaunchId launch, ExitStatus status);
  void BreakRing(Epoch epoch);
  void FormIfAllAsk();
  void BeDone();

  // What goes wrong.
  void Do(const Fault& fault);
  void DoToWorker(const Fault& fault);
  void DoToSlot(const Fault& fault);
  void DoToHost(const Fault& fault);
  void Hang(LaunchId launch);
  void KillAllOn(const std::string& host);
  void TellHosts();

  Process* FindRunning(LaunchId launch);
  std::optional<LaunchId> RunningAt(const WorkerId& id);
  std::optional<LaunchId> AnyRunningMember();
  bool InWorld(const WorkerId& id) const { return places_.contains(id); }
  int Pick(std::size_t below);
  Duration Between(Duration least, Duration most);
  Duration Since(Instant then) const;
  void Report(const Fault& fault, const std::string& where,
              const std::string& but = "");

  SimulationOptions options_;
  const Clock& stopwatch_;
  SimulationHandlers handlers_;
  std::mt19937 random_;
  SimulatedTime time_;
  ElasticDriver driver_;
  SimulatedHosts hosts_;
  HostList told_;  // what the driver has heard of them

  World world_;
  std::set<WorkerId> places_;  // of world_
  std::set<WorkerId> gone_;    // members of it that have ended
  std::size_t asking_ = 0;     // members of it that ask
  bool formed_ = false;
  Instant formed_at_{};
  bool spoiled_ = false;  // a member is lost: it is not handed out any more
  bool done_ = false;     // the training is
  std::map<LaunchId, Process> processes_;
  std::map<WorkerId, LaunchId> newest_;  // of each slot
  std::optional<Outcome> outcome_;
};

}  // namespace hvd
