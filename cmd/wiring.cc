#include "cmd/wiring.h"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/random_bytes.h"
#include "cmd/control_file.h"
#include "cmd/descriptor_limit.h"
#include "cmd/dry_run.h"
#include "cmd/exit_code.h"
#include "cmd/flush_output.h"
#include "cmd/held_port.h"
#include "cmd/host_source.h"
#include "cmd/install_paths.h"
#include "cmd/job_plan.h"
#include "cmd/local_network.h"
#include "cmd/many_hosts.h"
#include "cmd/named_hosts.h"
#include "cmd/output_file.h"
#include "cmd/refuse.h"
#include "cmd/report.h"
#include "cmd/run_job.h"
#include "cmd/signals.h"
#include "cmd/standard_streams.h"
#include "discovery/judge_script.h"
#include "discovery/local_host.h"
#include "discovery/pushed_hosts.h"
#include "launcher/local_launcher.h"
#include "launcher/output_files.h"
#include "launcher/output_mux.h"
#include "rendezvous/rendezvous_server.h"

namespace hvd {
namespace {

// What starts its agent, and the agent's connections.
constexpr std::size_t kDescriptorsPerHost = 8;
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kIdBytes = 8;

// What a signal means depends on how far the job is.
struct SignalRouter {
  std::function<void(int)> handle;  // empty: no job yet, or no longer
  std::optional<int> end;           // the first that asked hvdrun to end
};

bool EndsAProgram(int signo) {
  return signo == SIGINT || signo == SIGTERM || signo == SIGHUP;
}

std::string CurrentDirectory() {
  std::array<char, PATH_MAX> path{};
  return ::getcwd(path.data(), path.size()) != nullptr ? path.data() : "";
}

LogLevel Threshold(const Settings& settings) {
  if (settings.log_level) return *settings.log_level;
  return settings.verbose ? LogLevel::kInfo : LogLevel::kWarning;
}

// Files that hold the outcome; empty where none was asked for.
struct OutcomeFiles {
  std::optional<OutputFile> report;
  std::optional<OutputFile> result;
};

Result<OutcomeFiles> PrepareFiles(const Settings& settings) {
  OutcomeFiles files;
  const auto prepare = [](const std::string& path, const char* flag,
                          std::optional<OutputFile>& file) -> Status {
    if (path.empty()) return Done{};
    Result<OutputFile> prepared = OutputFile::Prepare(path);
    if (!prepared.ok()) return std::move(prepared).error().Wrap(flag);
    file = std::move(prepared).value();
    return Done{};
  };
  Status report = prepare(settings.report_file, "--report", files.report);
  if (!report.ok()) return std::move(report).error();
  Status result = prepare(settings.result_file, "--result-file", files.result);
  if (!result.ok()) return std::move(result).error();
  return files;
}

// Before there was a job to stop.
int EndBySignal(int signo) {
  Outcome outcome;
  outcome.verdict = Verdict::kSignalled;
  outcome.signo = signo;
  outcome.reason = "hvdrun got " + SignalName(signo) + " before it started";
  WriteStderr("hvdrun: " + ExitLine(outcome) + '\n');
  return ExitCodeOf(outcome);
}

class Hvdrun {
 public:
  Hvdrun(const Settings& settings, const EnvList& env, const sigset_t& handled)
      : settings_(settings),
        env_(env),
        signals_(loop_, handled, [this](int signo) { OnSignal(signo); }) {}

  Result<int> Run() {
    // First: a job that can't be started leaves no outcome of an earlier one.
    Result<OutcomeFiles> files = settings_.mode == RunMode::kRun
                                     ? PrepareFiles(settings_)
                                     : OutcomeFiles{};
    if (!files.ok()) return std::move(files).error();
    Result<std::vector<HostAddress>> hosts = LookUpAllHosts(
        loop_, settings_, [this] { return router_.end.has_value(); });
    if (router_.end) return EndBySignal(*router_.end);
    // ssh may know a name that nobody else does.
    if (!hosts.ok() && settings_.mode == RunMode::kDryRun) {
      return std::move(hosts).error();
    }
    many_hosts_ = settings_.elasticity.hosts_may_change() || !hosts.ok() ||
                  !AllLocal(hosts.value());
    std::vector<std::string> notes = settings_.notes;
    JobPlan plan = MakeJobPlan(
        settings_, env_, CurrentDirectory(),
        hosts.ok() ? hosts.value() : std::vector<HostAddress>(),
        {ToHex(RandomBytes(kIdBytes)), ToHex(RandomBytes(kKeyBytes))}, notes);
    if (!many_hosts_) {
      Status fitted = FitToThisMachine(settings_.network_interfaces,
                                       hosts.value(), plan, notes);
      if (!fitted.ok()) return std::move(fitted).error();
    }
    const World world = FirstWorld(settings_);
    Status limits = CheckExecLimits(plan, world);
    if (!limits.ok()) return std::move(limits).error();
    if (settings_.mode == RunMode::kDryRun) {
      if (many_hosts_) LeaveNetworksOpen(settings_.hosts, plan.env);
      for (const std::string& note : notes) {
        WriteStderr("hvdrun: note: " + note + '\n');
      }
      WriteStdout(DryRunText({settings_.hosts, world,
                              AddedEnvironments(settings_, env_, plan, world),
                              settings_.command}));
      return 0;
    }
    return Launch(std::move(plan), notes, files.value());
  }

 private:
  void OnSignal(int signo) {
    if (EndsAProgram(signo) && !router_.end) router_.end = signo;
    if (router_.handle) return router_.handle(signo);
    if (signo == SIGTSTP) ::raise(SIGSTOP);
  }

  Result<int> Launch(JobPlan plan, const std::vector<std::string>& notes,
                     const OutcomeFiles& files) {
    Result<std::string> keeper = KeeperPath();
    if (!keeper.ok()) return std::move(keeper).error();
    const int most = settings_.elasticity.max_np.value_or(settings_.np);
    Result<rlimit> user_limit = RaiseDescriptorLimit(
        DescriptorsFor(most, !settings_.output_dir.empty()) +
        settings_.hosts.size() * kDescriptorsPerHost);
    if (!user_limit.ok()) return std::move(user_limit).error();
    Result<HeldPort> master =
        HeldPort::Bind(kAllAddresses, settings_.port_range);
    if (!master.ok()) return std::move(master).error();
    plan.env.master_port = master.value().port();

    Result<std::unique_ptr<OutputMux>> output =
        OutputMux::Start(loop_, MakeOutputOptions(settings_), {});
    if (!output.ok()) return std::move(output).error();
    output.value()->ShowWorkers(settings_.driver_log == DriverLog::kAll);
    Logger logger(Threshold(settings_), [&](std::string_view line) {
      output.value()->PrintLine(line);
    });
    for (const std::string& note : notes) {
      output.value()->PrintLine("hvdrun: note: " + note);
    }

    JobRun run(loop_, plan, *output.value(), logger);
    Result<std::unique_ptr<RendezvousServer>> server = Serve(plan.env, run);
    if (!server.ok()) return std::move(server).error();
    plan.env.rendezvous_port = server.value()->port();
    Status control = MakeControlFile(server.value()->port());
    if (!control.ok()) return std::move(control).error();
    Result<std::unique_ptr<LocalLauncher>> launcher =
        StartLauncher(keeper.value(), plan.driver, user_limit.value(), run);
    if (!launcher.ok()) return std::move(launcher).error();
    Result<std::unique_ptr<ManyHosts>> many{nullptr};
    if (many_hosts_) {
      many = ManyHosts::Make(loop_, {.settings = settings_,
                                     .own_env = env_,
                                     .keeper_path = keeper.value(),
                                     .spare = Spare(*launcher.value()),
                                     .worker_handlers = run.launcher_handlers(),
                                     .local = *launcher.value(),
                                     .server = *server.value(),
                                     .env = plan.env,
                                     .say = Saying(*output.value())});
      if (!many.ok()) return std::move(many).error();
    }
    ways_ = many.value().get();
    const std::unique_ptr<HostDiscovery> discovery = MakeJobsDiscovery(run);
    const JobEnd end =
        RunWith(run, *launcher.value(), *server.value(), *discovery);
    return Finish(end, files, *output.value());
  }

  Result<std::unique_ptr<LocalLauncher>> StartLauncher(
      const std::string& keeper_path, const DriverOptions& driver,
      const rlimit& user_limit, JobRun& run) {
    return LocalLauncher::Start(
        loop_,
        {.keeper_path = keeper_path,
         .lifeline_grace = settings_.stop_grace,
         .stopped_limit = driver.elastic ? driver.worker_timeout : std::nullopt,
         .worker_nofile = FdLimit{user_limit.rlim_cur, user_limit.rlim_max},
         .spare =
             [this](pid_t pid) {
               return (script_ && script_->Runs(pid)) ||
                      (ways_ && ways_->Runs(pid));
             }},
        run.launcher_handlers());
  }

  // What else of this job runs below this process.
  std::function<bool(pid_t)> Spare(const LocalLauncher& launcher) {
    return [this, own = launcher.keeper_pid()](pid_t pid) {
      return pid == own || (script_ && script_->Runs(pid));
    };
  }

  static std::function<void(const std::string&)> Saying(OutputMux& output) {
    return [&output](const std::string& line) {
      output.PrintLine("hvdrun: " + line);
    };
  }

  JobEnd RunWith(JobRun& run, LocalLauncher& local, RendezvousServer& server,
                 HostDiscovery& discovery) {
    router_.handle = [&](int signo) { run.OnSignal(signo); };
    WorkerLauncher& workers = ways_ != nullptr
                                  ? ways_->launcher()
                                  : static_cast<WorkerLauncher&>(local);
    JobEnd end = run.Run(workers, server, discovery);
    control_file_.reset();
    pushed_ = nullptr;
    script_ = nullptr;
    ways_ = nullptr;
    return end;
  }

  Result<std::unique_ptr<RendezvousServer>> Serve(const JobEnv& env,
                                                  JobRun& run) {
    RendezvousOptions options;
    options.ports = settings_.port_range;
    options.elastic = settings_.elastic;
    options.job_key = FromHex(env.job_key_hex).value();
    RendezvousHandlers handlers = run.rendezvous_handlers();
    if (!settings_.elasticity.control_file.empty()) {
      // As much as a script may print.
      options.push = {control_token_, kMaxScriptOutput};
      handlers.on_hosts = [this](const std::string& text) {
        return pushed_ != nullptr
                   ? pushed_->Push(text)
                   : Error{ErrorCode::kUnavailable, "the job has ended"};
      };
    }
    return RendezvousServer::Listen(loop_, options, std::move(handlers));
  }

  Status MakeControlFile(std::uint16_t port) {
    const std::string& path = settings_.elasticity.control_file;
    if (path.empty()) return Done{};
    Result<ControlFile> made = ControlFile::Make(path, port, control_token_);
    if (!made.ok()) return std::move(made).error().Wrap("--control-file");
    control_file_.emplace(std::move(made).value());
    return Done{};
  }

  // What the driver gets: of many hosts those that can be used.
  std::unique_ptr<HostDiscovery> MakeJobsDiscovery(JobRun& run) {
    std::unique_ptr<HostDiscovery> source = MakeDiscovery();
    if (ways_ == nullptr) return source;
    return ways_->Prove(std::move(source),
                        [&run](const std::string& host, Error why) {
                          run.OnHostLost(host, std::move(why));
                        });
  }

  std::unique_ptr<HostDiscovery> MakeDiscovery() {
    const ElasticSettings& elastic = settings_.elasticity;
    HostSource first = MakeHostSource(loop_, settings_, env_);
    script_ = first.script;
    std::unique_ptr<HostDiscovery> source = std::move(first.discovery);
    if (!elastic.control_file.empty()) {
      auto pushed = std::make_unique<PushedHosts>(loop_, std::move(source),
                                                  elastic.slots_per_host);
      pushed_ = pushed.get();
      source = std::move(pushed);
    }
    return source;
  }

  int Finish(const JobEnd& end, const OutcomeFiles& files, OutputMux& output) {
    const bool told_to_stop =
        router_.end || end.outcome.verdict == Verdict::kTimedOut;
    const Reader reader = told_to_stop ? Reader::kInTheWay : Reader::kWaitedFor;
    router_ = {};
    const auto interrupted = [&] { return router_.end.has_value(); };
    const bool all_read = FlushOutput(loop_, output, reader, interrupted);
    const JobReport report{end.outcome, end.started, settings_.command,
                           end.first_failure_stderr, FirstFailureLog(end)};
    WriteFiles(files, end, report, output);
    for (const std::string& line : ReportLines(report)) {
      output.PrintLine("hvdrun: " + line);
    }
    FlushOutput(loop_, output, all_read ? reader : Reader::kGivenUp,
                interrupted);
    return ExitCodeOf(end.outcome);
  }

  std::string FirstFailureLog(const JobEnd& end) const {
    const std::optional<WorkerEnd>& failed = end.outcome.first_failed;
    if (settings_.output_dir.empty() || !failed) return "";
    return settings_.output_dir + "/rank." +
           PaddedRank(failed->rank, settings_.np) + "/stderr";
  }

  static void WriteFiles(const OutcomeFiles& files, const JobEnd& end,
                         const JobReport& report, OutputMux& output) {
    const auto write = [&](const OutputFile& file, std::string_view bytes) {
      const Status written = file.Write(bytes);
      if (!written.ok()) {
        output.PrintLine("hvdrun: error: " + written.error().message());
      }
    };
    if (files.report) write(*files.report, ReportJson(report));
    if (files.result && end.result &&
        end.outcome.verdict == Verdict::kSucceeded) {
      write(*files.result, *end.result);
    }
  }

  const Settings& settings_;
  const EnvList& env_;
  bool many_hosts_ = false;  // some are other machines, or may be
  EventLoop loop_;
  SignalRouter router_;
  const std::string control_token_ = ToHex(RandomBytes(kKeyBytes));
  // While the job runs, and only where they were asked for.
  const ScriptDiscovery* script_ = nullptr;
  ManyHosts* ways_ = nullptr;
  PushedHosts* pushed_ = nullptr;
  std::optional<ControlFile> control_file_;
  SignalSource signals_;
};

}  // namespace

int RunHvdrun(const Settings& settings, const EnvList& user_env,
              const sigset_t& handled) {
  Result<int> code = Hvdrun(settings, user_env, handled).Run();
  return code.ok() ? code.value() : Refuse(code.error());
}

}  // namespace hvd
