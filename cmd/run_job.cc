#include "cmd/run_job.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "driver/explain.h"
#include "launcher/output_pipe.h"

namespace hvd {
namespace {

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::optional<int> RankIn(const World& world, const WorkerId& worker) {
  const auto found =
      std::find(world.workers.begin(), world.workers.end(), worker);
  if (found == world.workers.end()) return std::nullopt;
  return static_cast<int>(found - world.workers.begin());
}

bool HasRank(const World& world, const WorkerId& worker, int rank) {
  const auto place = static_cast<std::size_t>(rank);
  return place < world.workers.size() && world.workers[place] == worker;
}

bool IsMember(const World& world, const WorkerId& worker) {
  return RankIn(world, worker).has_value();
}

}  // namespace

JobRun::JobRun(EventLoop& loop, const JobPlan& plan, OutputMux& output,
               Logger& logger)
    : loop_(loop),
      plan_(plan),
      output_(output),
      logger_(logger),
      begin_(loop.Now()),
      driver_(plan.driver, begin_),
      stdin_relay_(loop, STDIN_FILENO),
      leftover_grace_(plan.leftover_grace) {}

LauncherHandlers JobRun::launcher_handlers() {
  return {
      .on_started =
          [this](LaunchId id, pid_t pid) {
            Feed(WorkerStarted{id, pid});
          },
      .on_start_failed =
          [this](LaunchId id, Error error) {
            Forget(id);
            Feed(WorkerStartFailed{id, std::move(error)});
          },
      .on_exit =
          [this](LaunchId id, ExitStatus status) {
            Forget(id);
            output_.Drain(id);
            Feed(WorkerExited{id, status});
          },
      .on_stopped = [this](LaunchId id) { Feed(WorkerStopped{id}); },
      .on_lost = [this](Error error) { Feed(LauncherLost{std::move(error)}); },
  };
}

RendezvousHandlers JobRun::rendezvous_handlers() {
  return {
      .on_ready =
          [this](const WorkerId& worker, Epoch after) {
            Feed(WorkerReady{worker, after});
          },
      .on_heard =
          [this](const WorkerId& worker, Epoch epoch,
                 std::uint64_t operations) {
            Feed(WorkerHeard{worker, epoch, operations});
          },
      .on_blame =
          [this](const WorkerId& worker, Epoch epoch, int rank) {
            Feed(WorkerBlames{worker, epoch, rank});
          },
      .on_log =
          [this](const WorkerId& worker, const std::string& text) {
            output_.PrintWorkerLog(RankOf(worker).value_or(-1), world_.epoch,
                                   text);
          },
      .on_result =
          [this](const WorkerId& worker, std::string bytes) {
            if (RankOf(worker) == 0) result_ = std::move(bytes);
          },
      .on_refused =
          [this](const std::string& line) {
            logger_.Warning("rendezvous", line);
          },
      .on_misplaced =
          [this](const WorkerId& worker) { Feed(WorkerMisplaced{worker}); },
  };
}

JobEnd JobRun::Run(WorkerLauncher& launcher, RendezvousServer& server,
                   HostDiscovery& discovery) {
  launcher_ = &launcher;
  server_ = &server;
  discovery.Start(
      {.on_hosts =
           [this](HostList hosts) { Feed(HostsDiscovered{std::move(hosts)}); },
       .on_failed =
           [this](Error error) { Feed(DiscoveryFailed{std::move(error)}); },
       .on_warning =
           [this](const std::string& line) {
             output_.PrintLine("hvdrun: warning: " + line);
           }});
  ArmDeadline();
  loop_.Run();
  launcher_ = nullptr;
  server_ = nullptr;
  return *std::exchange(end_, std::nullopt);
}

void JobRun::OnSignal(int signo) {
  switch (signo) {
    case SIGUSR1:
    case SIGUSR2:
      return SignalAll(signo);
    case SIGTSTP:
      return StopLikeAShellJob();
    case SIGCONT:
      stdin_relay_.OnContinued();
      return SignalAll(SIGCONT);
    default:  // not an enum: INT, TERM, HUP are all that is left
      // The workers have ended and what they left behind has its grace still.
      if (end_ && signo == SIGINT) {
        return launcher_->StopLeftovers(Duration{0}, [] {});
      }
      return Feed(SignalReceived{signo});
  }
}

void JobRun::OnHostLost(const std::string& host, Error error) {
  for (const auto& [worker, launch] : newest_) {
    if (worker.host != host || !live_.contains(launch)) continue;
    Forget(launch);
    output_.Drain(launch);
    // Whatever may still run there has no say any more.
    server_->Replace(worker, LaunchId{static_cast<int>(launch) + 1});
  }
  Feed(HostLost{host, std::move(error)});
}

void JobRun::Feed(const Event& event) {
  const Instant now = loop_.Now();
  const std::vector<Action> actions = driver_.On(event, now);
  if (plan_.explain) {
    const std::string text = Explain(
        std::chrono::duration_cast<Duration>(now - begin_), event, actions);
    if (!text.empty()) output_.PrintLine(text);
  }
  const std::vector<StartedWorkers> started = PlanStarts(actions);
  for (const Action& action : actions) {
    std::visit([this](const auto& a) { Perform(a); }, action);
  }
  for (const StartedWorkers& workers : started) server_->Started(workers);
  ArmDeadline();
}

// A newcomer's environment shows it behind the world that there is, or is about
// to be, with all others that are on their way: that is the next world if
// nothing comes between. libhvd asks for its place all the same; a Horovod
// worker believes what it is shown.
std::vector<StartedWorkers> JobRun::PlanStarts(
    const std::vector<Action>& actions) {
  const World* world = &world_;
  for (const Action& action : actions) {
    const auto* publish = std::get_if<PublishWorld>(&action);
    if (publish == nullptr) continue;
    world = &publish->world;
    std::erase_if(newcomers_, [&](const auto& newcomer) {
      return IsMember(*world, newcomer.second);
    });
  }
  StartedWorkers members{{}, *world};
  StartedWorkers newcomers;
  std::vector<LaunchId> launches;
  for (const Action& action : actions) {
    const auto* start = std::get_if<StartWorker>(&action);
    if (start == nullptr) continue;
    const bool member = HasRank(*world, start->worker, start->rank);
    (member ? members : newcomers).workers.push_back(start->worker);
    if (!member) launches.push_back(start->launch);
  }
  std::vector<StartedWorkers> started;
  if (!members.workers.empty()) started.push_back(std::move(members));
  if (newcomers.workers.empty()) return started;
  newcomers.shown.workers = WithEarlierNewcomers(*world);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    newcomers_[launches[i]] = newcomers.workers[i];
    newcomers.shown.workers.push_back(newcomers.workers[i]);
  }
  planned_ = newcomers.shown;
  planned_.epoch = world->epoch;
  started.push_back(std::move(newcomers));
  return started;
}

// Behind newcomers whose own plan has come to nothing nobody can stand.
std::vector<WorkerId> JobRun::WithEarlierNewcomers(const World& world) {
  std::vector<WorkerId> here;
  for (const WorkerId& worker : world.workers) {
    if (IsHere(worker)) here.push_back(worker);
  }
  std::vector<WorkerId> all = here;
  for (const auto& [launch, worker] : newcomers_) all.push_back(worker);
  if (all == planned_.workers) return all;
  newcomers_.clear();
  return here;
}

// In the world, and not on its way out.
bool JobRun::IsHere(const WorkerId& worker) const {
  const auto newest = newest_.find(worker);
  return newest != newest_.end() && live_.contains(newest->second) &&
         !told_to_stop_.contains(newest->second) &&
         !newcomers_.contains(newest->second);
}

void JobRun::Forget(LaunchId launch) {
  const auto lives = live_.find(launch);
  if (lives == live_.end()) return;
  live_.erase(lives);
  newcomers_.erase(launch);
  told_to_stop_.erase(launch);
  for (const auto& [worker, newest] : newest_) {
    if (newest == launch && server_ != nullptr) server_->Ended(worker);
  }
}

void JobRun::ArmDeadline() {
  const std::optional<Instant> when = driver_.NextDeadline();
  deadline_.reset();
  if (when) deadline_ = loop_.At(*when, [this] { Feed(Tick{}); });
}

void JobRun::Perform(const PublishWorld& action) {
  world_ = action.world;
  server_->Publish(world_);
  int rank = 0;
  for (const WorkerId& worker : world_.workers) {
    const auto launch = newest_.find(worker);
    if (launch != newest_.end()) {
      output_.Relabel(launch->second, rank, world_.epoch);
    }
    ++rank;
  }
}

void JobRun::Perform(const StartWorker& action) {
  live_.emplace(action.launch, action.rank);
  newest_[action.worker] = action.launch;
  server_->Replace(action.worker, action.launch);
  Result<WorkerCommand> command = MakeCommand(action);
  if (command.ok()) {
    launcher_->Launch(action.launch, std::move(command).value());
    return;
  }
  // An answer never comes from inside the call that it answers.
  loop_.Post([this, id = action.launch, error = command.error()] {
    Forget(id);
    Feed(WorkerStartFailed{id, error});
  });
}

Result<WorkerCommand> JobRun::MakeCommand(const StartWorker& action) {
  // A newcomer gets no stdin, which is somebody else's by then.
  const bool member = HasRank(world_, action.worker, action.rank);
  const World& world = member ? world_ : planned_;
  const int rank = member ? action.rank : RankIn(world, action.worker).value();
  Result<UniqueFd> stdin_fd =
      member && plan_.stdin_rank == rank ? stdin_relay_.Attach() : UniqueFd();
  if (!stdin_fd.ok()) return std::move(stdin_fd).error();
  Result<OutputPipe> out = MakeOutputPipe();
  if (!out.ok()) return std::move(out).error();
  Result<OutputPipe> err = MakeOutputPipe();
  if (!err.ok()) return std::move(err).error();
  output_.AddWorker(action.launch, FileNumberOf(action.worker, rank),
                    world_.epoch, std::move(out.value().read_end),
                    std::move(err.value().read_end));
  output_.Relabel(action.launch, rank, world_.epoch);
  return WorkerCommand{
      .argv = plan_.command,
      .env = EnvMerge(
          WorkerEnvironment(plan_, world, rank),
          {{kLaunchVariable, std::to_string(static_cast<int>(action.launch))},
           {kRestartsVariable, std::to_string(action.restarts)}}),
      .cwd = plan_.cwd,
      .host = action.worker.host,
      .stdin_fd = std::move(stdin_fd).value(),
      .stdout_fd = std::move(out.value().write_end),
      .stderr_fd = std::move(err.value().write_end),
  };
}

void JobRun::Perform(const StopWorker& action) {
  // Who kills the workers does not wait for what they leave behind either.
  if (action.first_signal == SIGKILL) leftover_grace_ = Duration{0};
  told_to_stop_.insert(action.launch);
  newcomers_.erase(action.launch);
  launcher_->Stop(action.launch, action.first_signal, action.grace);
}

void JobRun::Perform(const NotifyLoss& action) {
  server_->Notify(
      action.epoch,
      {.lost_rank = action.rank, .text = action.text, .silent = action.silent});
}

void JobRun::Perform(const Say& action) {
  output_.PrintLine("hvdrun: " + action.text);
}

void JobRun::Perform(const EndJob& action) {
  end_ = JobEnd{action.outcome, started_, result_, ""};
  if (const auto& failed = action.outcome.first_failed) {
    end_->first_failure_stderr = JoinLines(output_.LastStderr(failed->launch));
  }
  launcher_->StopLeftovers(leftover_grace_, [this] { loop_.Stop(); });
}

void JobRun::SignalAll(int signo) {
  for (const auto& [launch, rank] : live_) launcher_->Signal(launch, signo);
}

// Ctrl-Z: the shell means the whole job, but the workers are in sessions of
// their own, where a terminal's SIGTSTP does not reach and would be ignored.
void JobRun::StopLikeAShellJob() {
  SignalAll(SIGSTOP);
  launcher_->Rest([] { ::raise(SIGSTOP); });
}

int JobRun::FileNumberOf(const WorkerId& worker, int rank) {
  const auto known = file_numbers_.find(worker);
  if (known != file_numbers_.end()) return known->second;
  const auto taken = [&](int number) {
    return std::any_of(
        file_numbers_.begin(), file_numbers_.end(),
        [&](const auto& entry) { return entry.second == number; });
  };
  while (taken(rank)) ++rank;
  return file_numbers_[worker] = rank;
}

std::optional<int> JobRun::RankOf(const WorkerId& worker) const {
  return RankIn(world_, worker);
}

}  // namespace hvd
