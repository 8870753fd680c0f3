// JobRun: carries out what the driver decides, and tells it what happens.
//
// The shell around a pure driver: events in from discovery, workers, launcher
// and signals; actions out, in order. Nothing about the job is decided here.
//
// Loop thread only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/log.h"
#include "cmd/job_plan.h"
#include "discovery/host_discovery.h"
#include "driver/elastic_driver.h"
#include "launcher/output_mux.h"
#include "launcher/stdin_relay.h"
#include "launcher/worker_launcher.h"
#include "rendezvous/rendezvous_server.h"

namespace hvd {

// What is left of a job when it has ended.
struct JobEnd {
  Outcome outcome;
  std::chrono::system_clock::time_point started;
  std::optional<std::string> result;  // what rank 0 gave to SetResult
  std::string first_failure_stderr;   // its last lines
};

class JobRun {
 public:
  JobRun(EventLoop& loop, const JobPlan& plan, OutputMux& output,
         Logger& logger);

  // To be given to the launcher and the server that Run() gets.
  LauncherHandlers launcher_handlers();
  RendezvousHandlers rendezvous_handlers();

  // Runs the job to its end: every worker ended and everything they left
  // behind is gone, or has been given up on.
  JobEnd Run(WorkerLauncher& launcher, RendezvousServer& server,
             HostDiscovery& discovery);

  // From the signal source, at any time during Run().
  void OnSignal(int signo);
  // Its workers are gone; during Run().
  void OnHostLost(const std::string& host, Error error);

 private:
  void Feed(const Event& event);
  void ArmDeadline();

  void Perform(const PublishWorld& action);
  void Perform(const StartWorker& action);
  void Perform(const StopWorker& action);
  void Perform(const NotifyLoss& action);
  void Perform(const Say& action);
  void Perform(const EndJob& action);

  std::vector<StartedWorkers> PlanStarts(const std::vector<Action>& actions);
  std::vector<WorkerId> WithEarlierNewcomers(const World& world);
  bool IsHere(const WorkerId& worker) const;
  void Forget(LaunchId launch);
  Result<WorkerCommand> MakeCommand(const StartWorker& action);
  void SignalAll(int signo);
  void StopLikeAShellJob();
  std::optional<int> RankOf(const WorkerId& worker) const;
  int FileNumberOf(const WorkerId& worker, int rank);

  EventLoop& loop_;
  const JobPlan& plan_;
  OutputMux& output_;
  Logger& logger_;
  Instant begin_;
  std::chrono::system_clock::time_point started_ = WallNow();  // the same
  ElasticDriver driver_;
  WorkerLauncher* launcher_ = nullptr;  // during Run()
  RendezvousServer* server_ = nullptr;  // during Run()
  std::unique_ptr<Timer> deadline_;
  StdinRelay stdin_relay_;
  World world_;
  std::map<LaunchId, int> live_;         // started or starting -> first rank
  std::map<WorkerId, LaunchId> newest_;  // of each slot
  // Started or starting, not told to stop, in no world yet, and of a plan that
  // still may become one.
  std::map<LaunchId, WorkerId> newcomers_;
  std::set<LaunchId> told_to_stop_;
  World planned_;  // what newcomers that are started now are shown
  // The N of each slot's rank.N: all lives of a slot write to one directory.
  std::map<WorkerId, int> file_numbers_;
  std::optional<JobEnd> end_;
  std::optional<std::string> result_;
  Duration leftover_grace_;  // the plan's; none once the user is impatient
};

}  // namespace hvd
