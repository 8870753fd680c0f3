#include "cmd/run_agent.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/event_loop.h"
#include "base/read_file.h"
#include "cmd/carried_keeper.h"
#include "cmd/descriptor_limit.h"
#include "cmd/install_paths.h"
#include "cmd/machine_network.h"
#include "cmd/standard_streams.h"
#include "cmd/version.h"
#include "launcher/agent_client.h"
#include "launcher/agent_greeting.h"
#include "launcher/agent_orders.h"
#include "launcher/agent_workers.h"
#include "launcher/local_launcher.h"

namespace hvd {
namespace {

// hvdrun writes them as soon as it reads the greeting.
constexpr Duration kOrdersPatience{60'000};
// What not even SIGKILL has ended by then waits for its disk.
constexpr Duration kGiveUpAfterKill{10'000};

// A line of stdin, which stays open: what comes after it is its end.
Result<std::string> ReadOrders() {
  std::string line;
  std::array<char, 65536> buffer;
  const Instant deadline = SteadyClock().Now() + kOrdersPatience;
  for (;;) {
    pollfd readable{STDIN_FILENO, POLLIN, 0};
    const int ready =
        ::poll(&readable, 1, static_cast<int>(kOrdersPatience.count()));
    if (ready == 0 || SteadyClock().Now() >= deadline) {
      return Error{ErrorCode::kTimeout, "no orders came from hvdrun"};
    }
    const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::FromErrno("read orders", errno);
    if (n == 0) {
      return Error{ErrorCode::kUnavailable, "hvdrun went before its orders"};
    }
    line.append(buffer.data(), static_cast<std::size_t>(n));
    if (line.ends_with('\n')) break;
    if (line.size() > kMaxAgentPayload) {
      return Error{ErrorCode::kInvalidArgument, "orders are too long"};
    }
  }
  line.pop_back();
  return line;
}

class Agent {
 public:
  Agent(AgentOrders orders, UniqueFd keeper, FdLimit user_limit)
      : orders_(std::move(orders)),
        keeper_(std::move(keeper)),
        user_limit_(user_limit) {}

  // nullopt: hvdrun said farewell.
  std::optional<Error> Run() {
    // The other end of the way that hvdrun came: its end is ours.
    lifeline_ = loop_.OnReadable(STDIN_FILENO, [this] { OnLifeline(); });
    client_ = AgentClient::Dial(
        loop_,
        {.endpoints = orders_.endpoints,
         .certificate = orders_.certificate,
         .host = orders_.host,
         .token = orders_.token},
        [this](Result<DialedHvdrun> dialed) { OnDialed(std::move(dialed)); });
    const Status prepared = Prepare();
    if (!prepared.ok()) return prepared.error();
    loop_.Run();
    lifeline_.reset();
    return std::move(end_);
  }

 private:
  void OnLifeline() {
    std::array<char, 256> ignored;
    const ssize_t n = ::read(STDIN_FILENO, ignored.data(), ignored.size());
    if (n > 0 || (n < 0 && errno == EINTR)) return;
    lifeline_.reset();  // it would be told again and again
    workers_->CutOff();
  }

  // All that does not need hvdrun, while its addresses are being dialled.
  Status Prepare() {
    workers_ = std::make_unique<AgentWorkers>(
        loop_, ProbeDialer::Make(loop_, orders_.probe_key),
        LinkMeter::Make(loop_, orders_.probe_key),
        AgentWorkers::Options{.host_timeout = orders_.host_timeout,
                              .login_env = CurrentEnvironment(),
                              .ports = orders_.ports,
                              .starting = StartingOptions(),
                              .program = OwnProgram},
        [this](std::optional<Error> why) { End(std::move(why)); });
    Result<std::unique_ptr<LocalLauncher>> launcher = LocalLauncher::Start(
        loop_,
        {.keeper_path = PathOfCarriedKeeper(keeper_),
         .lifeline_grace = orders_.stop_grace,
         .stopped_limit = orders_.stopped_limit,
         .worker_nofile = user_limit_,
         .spare = [this](pid_t pid) { return workers_->Runs(pid); }},
        workers_->launcher_handlers());
    if (!launcher.ok()) return std::move(launcher).error();
    launcher_ = std::move(launcher).value();
    Result<MachineNetwork> network =
        MachineNetwork::Open(loop_, orders_.probe_key, orders_.ports);
    if (!network.ok()) return std::move(network).error();
    network_.emplace(std::move(network).value());
    return Done{};
  }

  RemoteBootstrap::Options StartingOptions() const {
    RemoteBootstrap::Options options;
    options.keeper_path = PathOfCarriedKeeper(keeper_);
    const Result<std::string> ssh_config = SshConfigPathOfAgent();
    if (ssh_config.ok()) options.shell.ssh_config = ssh_config.value();
    options.program_version = Version();
    options.env = CurrentEnvironment();
    options.command_nofile = user_limit_;
    options.spare = [this](pid_t pid) {
      return launcher_ && launcher_->keeper_pid() == pid;
    };
    return options;
  }
  static Result<std::string> OwnProgram() {
    return ReadWholeFile("/proc/self/exe");
  }

  void OnDialed(Result<DialedHvdrun> dialed) {
    if (!dialed.ok()) return End(std::move(dialed).error());
    Result<AgentAbout> about = About(dialed.value().endpoint.address);
    if (!about.ok()) return End(std::move(about).error());
    workers_->Start(*launcher_, std::move(dialed.value().uplink),
                    std::move(about).value());
  }

  Result<AgentAbout> About(const std::string& hvdrun_address) {
    Result<HostInterfaces> machine = network_->Look();
    if (!machine.ok()) return std::move(machine).error();
    const auto since_1970 = WallNow().time_since_epoch();
    return AgentAbout{
        .version = std::string(Version()),
        .host_name = OwnHostName(),
        .pid = ::getpid(),
        .unix_ms = std::chrono::duration_cast<Duration>(since_1970).count(),
        .hvdrun_address = hvdrun_address,
        .master_port = network_->master_port(),
        .identity = machine.value().identity,
        .probe_port = machine.value().probe_port,
        .interfaces = std::move(machine.value().interfaces),
        .default_route = std::move(machine.value().default_route),
        .system = OwnSystem()};
  }

  void End(std::optional<Error> why) {
    if (ended_) return;
    ended_ = true;
    end_ = std::move(why);
    if (!launcher_) return loop_.Stop();
    // A keeper would do it without us; but if ours was killed, we are it.
    give_up_ = loop_.After(orders_.stop_grace + kGiveUpAfterKill,
                           [this] { loop_.Stop(); });
    launcher_->StopLeftovers(orders_.stop_grace, [this] { loop_.Stop(); });
  }

  AgentOrders orders_;
  UniqueFd keeper_;
  FdLimit user_limit_;
  EventLoop loop_;
  std::unique_ptr<AgentClient> client_;
  std::optional<MachineNetwork> network_;
  std::unique_ptr<AgentWorkers> workers_;
  // The keeper stops what still runs once this is gone.
  std::unique_ptr<LocalLauncher> launcher_;
  std::unique_ptr<FdWatch> lifeline_;
  bool ended_ = false;
  std::unique_ptr<Timer> give_up_;
  std::optional<Error> end_;
};

Result<std::unique_ptr<Agent>> MakeAgent() {
  // Started from a descriptor it would be called "3".
  ::prctl(PR_SET_NAME, "hvdrun-agent");
  WriteStdout(GreetingLine(Version()));
  Result<std::string> line = ReadOrders();
  if (!line.ok()) return std::move(line).error();
  Result<AgentOrders> orders = ParseAgentOrders(line.value());
  if (!orders.ok()) return std::move(orders).error();
  Result<UniqueFd> keeper = OpenCarriedKeeper();
  if (!keeper.ok()) return std::move(keeper).error();
  const rlimit before = RaiseDescriptorLimitFarEnough();
  return std::make_unique<Agent>(std::move(orders).value(),
                                 std::move(keeper).value(),
                                 FdLimit{before.rlim_cur, before.rlim_max});
}

}  // namespace

int RunAgent() {
  Result<std::unique_ptr<Agent>> agent = MakeAgent();
  std::optional<Error> why;
  if (agent.ok()) {
    why = agent.value()->Run();
  } else {
    why = agent.error();
  }
  if (!why) return 0;
  WriteStderr("hvdrun-agent: " + why->message() + '\n');
  return 1;
}

}  // namespace hvd
