#include "cmd/check_hosts.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/random_bytes.h"
#include "base/seconds.h"
#include "cmd/descriptor_limit.h"
#include "cmd/exit_code.h"
#include "cmd/host_source.h"
#include "cmd/hosts_check.h"
#include "cmd/hosts_report.h"
#include "cmd/install_paths.h"
#include "cmd/job_plan.h"
#include "cmd/local_network.h"
#include "cmd/machine_network.h"
#include "cmd/many_hosts.h"
#include "cmd/named_hosts.h"
#include "cmd/refuse.h"
#include "cmd/signals.h"
#include "cmd/standard_streams.h"
#include "cmd/version.h"
#include "launcher/local_launcher.h"
#include "rendezvous/rendezvous_server.h"

namespace hvd {
namespace {

constexpr std::size_t kDescriptorsPerHost = 8;
constexpr std::size_t kKeyBytes = 32;

void SayLine(const std::string& line) { WriteStderr("hvdrun: " + line + '\n'); }

// Nobody but a worker of the job says anything to the server, and there is
// none.
RendezvousHandlers NoWorkers() {
  return {.on_ready = [](const WorkerId&, Epoch) {},
          .on_heard = [](const WorkerId&, Epoch, std::uint64_t) {},
          .on_blame = [](const WorkerId&, Epoch, int) {},
          .on_log = [](const WorkerId&, const std::string&) {},
          .on_result = [](const WorkerId&, const std::string&) {},
          .on_refused = [](const std::string& line) { SayLine(line); }};
}

class HostsChecker {
 public:
  HostsChecker(const Settings& settings, const EnvList& env,
               const sigset_t& handled)
      : settings_(settings),
        env_(env),
        signals_(loop_, handled, [this](int signo) { OnSignal(signo); }) {
    if (!settings_.timeout) return;
    timeout_ = loop_.After(*settings_.timeout, [this] { timed_out_ = true; });
  }

  Result<int> Run() {
    for (const std::string& note : settings_.notes) SayLine("note: " + note);
    Result<HostList> hosts = FindHosts();
    if (stopped()) return End();
    if (!hosts.ok()) return std::move(hosts).error();
    Result<std::vector<HostAddress>> addresses =
        LookUpAllHosts(loop_, settings_, [this] { return stopped(); });
    if (stopped()) return End();
    const bool stays_here = !settings_.elasticity.discovers() &&
                            addresses.ok() && AllLocal(addresses.value());
    Result<HostsReport> report =
        stays_here ? OfThisMachine(hosts.value(), addresses.value())
                   : OfManyHosts(hosts.value());
    if (!report.ok()) return std::move(report).error();
    if (end_) return End();
    WriteStdout(HostsReportText(report.value()));
    unusable_ = UnusableText(report.value().hosts);
    return End();
  }

 private:
  bool stopped() const { return end_ || timed_out_; }

  void OnSignal(int signo) {
    if (signo == SIGTSTP) ::raise(SIGSTOP);
    const bool ends = signo == SIGINT || signo == SIGTERM || signo == SIGHUP;
    if (ends && !end_) end_ = signo;
  }

  int End() const {
    Outcome outcome;
    if (end_) {
      outcome.verdict = Verdict::kSignalled;
      outcome.signo = *end_;
      outcome.reason = "hvdrun got " + SignalName(*end_);
    } else if (timed_out_) {
      outcome.verdict = Verdict::kTimedOut;
      outcome.reason = "--timeout " + SecondsText(*settings_.timeout);
    } else if (!unusable_.empty()) {
      outcome.verdict = Verdict::kLauncherFailed;
      outcome.reason = unusable_;
    } else {
      return 0;
    }
    SayLine(ExitLine(outcome));
    return ExitCodeOf(outcome);
  }

  // The first list with a host in it.
  Result<HostList> FindHosts() {
    const HostSource source = MakeHostSource(loop_, settings_, env_);
    HostList found;
    std::optional<Error> failed;
    source.discovery->Start(
        {.on_hosts = [&](HostList hosts) { found = std::move(hosts); },
         .on_failed = [&](Error error) { failed = std::move(error); },
         .on_warning = [](const std::string& line) { SayLine(line); }});
    const Duration limit = settings_.start_timeout;
    loop_.RunUntil([&] { return !found.empty() || failed || stopped(); },
                   limit);
    if (failed) return *failed;
    if (!found.empty() || stopped()) return found;
    return Error{ErrorCode::kTimeout,
                 "no host was listed within " + SecondsText(limit)}
        .WithHint("see --start-timeout");
  }

  // Its workers need no agent and no network.
  Result<HostsReport> OfThisMachine(const HostList& hosts,
                                    const std::vector<HostAddress>& addresses) {
    Result<std::string> keeper = KeeperPath();
    if (!keeper.ok()) return std::move(keeper).error();
    JobPlan plan;
    plan.user_env = env_;
    std::vector<std::string> notes;
    Status fitted =
        FitToThisMachine(settings_.network_interfaces, addresses, plan, notes);
    if (!fitted.ok()) return std::move(fitted).error();
    for (const std::string& note : notes) SayLine("note: " + note);
    HostsReport report{std::string(Version()), {}, {}, {}};
    for (const HostSlots& host : hosts) {
      const HostNetwork& network = plan.env.networks[host.host];
      report.hosts.push_back(
          {.host = host.host,
           .slots = host.slots,
           .is_local = true,
           .name = OwnHostName(),
           .system = OwnSystem(),
           .place = {network.interface_name, network.ring_address}});
    }
    return report;
  }

  // As in a job's start, up to its first worker.
  Result<HostsReport> OfManyHosts(const HostList& hosts) {
    Result<std::string> keeper = KeeperPath();
    if (!keeper.ok()) return std::move(keeper).error();
    Result<rlimit> user_limit =
        RaiseDescriptorLimit(DescriptorsFor(0, /*with_files=*/false) +
                             hosts.size() * kDescriptorsPerHost);
    if (!user_limit.ok()) return std::move(user_limit).error();
    RendezvousOptions listening;
    listening.ports = settings_.port_range;
    listening.job_key = RandomBytes(kKeyBytes);
    Result<std::unique_ptr<RendezvousServer>> server =
        RendezvousServer::Listen(loop_, listening, NoWorkers());
    if (!server.ok()) return std::move(server).error();
    const ManyHosts* ways = nullptr;
    Result<std::unique_ptr<LocalLauncher>> launcher = LocalLauncher::Start(
        loop_,
        {.keeper_path = keeper.value(),
         .spare =
             [&](pid_t pid) { return ways != nullptr && ways->Runs(pid); }},
        {});
    if (!launcher.ok()) return std::move(launcher).error();
    JobEnv env;
    Result<std::unique_ptr<ManyHosts>> many =
        ManyHosts::Make(loop_, {.settings = settings_,
                                .own_env = env_,
                                .keeper_path = keeper.value(),
                                .spare = [own = launcher.value()->keeper_pid()](
                                             pid_t pid) { return pid == own; },
                                .worker_handlers = {},
                                .local = *launcher.value(),
                                .server = *server.value(),
                                .env = env,
                                .say = SayLine});
    if (!many.ok()) return std::move(many).error();
    ways = many.value().get();
    HostsCheck check(loop_, many.value()->hosts(), env,
                     {.hosts = hosts,
                      .start_timeout = settings_.start_timeout,
                      .version = std::string(Version())});
    bool done = false;
    check.Start([&] { done = true; });
    loop_.RunUntil([&] { return done || stopped(); },
                   settings_.start_timeout + HostsCheck::kLongestMeasuring);
    return check.Report({ErrorCode::kTimeout, "not known when time was up"});
  }

  const Settings& settings_;
  const EnvList& env_;
  EventLoop loop_;
  std::optional<int> end_;  // the signal that asked for it
  bool timed_out_ = false;  // --timeout
  std::string unusable_;
  std::unique_ptr<Timer> timeout_;
  SignalSource signals_;
};

}  // namespace

int CheckHosts(const Settings& settings, const EnvList& env,
               const sigset_t& handled) {
  Result<int> code = HostsChecker(settings, env, handled).Run();
  return code.ok() ? code.value() : Refuse(code.error());
}

}  // namespace hvd
