#include "launcher/remote_bootstrap.h"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pipe.h"
#include "base/shell_quote.h"

namespace hvd {
namespace {

// A command that is stopped because hvdrun is gone has nothing to put in order.
constexpr Duration kGrace{500};

// With these ssh would open a window to ask for a password.
bool AsksForPassword(std::string_view name) {
  return name == "DISPLAY" || name == "WAYLAND_DISPLAY" ||
         name == "SSH_ASKPASS" || name == "SSH_ASKPASS_REQUIRE";
}

// OpenSSH refuses these itself since 9.6. Before, it put them into the shell
// line of a ProxyCommand as they are, and hosts come from scripts and pushes.
bool MayNameAHost(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    constexpr std::string_view kRefused = "'`\"$\\;&<>|(){}";
    return c > ' ' && c != 0x7f && kRefused.find(c) == std::string_view::npos;
  });
}

// What the user may paste. The script that installs an agent explains nothing,
// and waits for a program that nobody types.
std::string ByHand(const RemoteShell& shell, const RemoteHost& host,
                   const AgentPlace& place) {
  const bool installs = place.kind == AgentPlace::Kind::kInstall;
  return ShellQuote(
      RemoteArgv(shell, host, installs ? "true" : RemoteLine(place)));
}

struct CommandPipes {
  Pipe to_stdin;
  Pipe from_stdout;
  Pipe from_stderr;
};

Result<CommandPipes> MakePipes() {
  Result<Pipe> in = MakePipe(OurEnd::kWrite);
  if (!in.ok()) return std::move(in).error();
  Result<Pipe> out = MakePipe(OurEnd::kRead);
  if (!out.ok()) return std::move(out).error();
  Result<Pipe> err = MakePipe(OurEnd::kRead);
  if (!err.ok()) return std::move(err).error();
  return CommandPipes{std::move(in).value(), std::move(out).value(),
                      std::move(err).value()};
}

// An attempt that could not begin: its end is told from the loop.
class RefusedAttempt : public BootstrapAttempt {
 public:
  RefusedAttempt(EventLoop& loop, BootstrapEnd end, BootstrapHandlers handlers)
      : timer_(loop.After(Duration{0}, [end = std::move(end),
                                        on_end = std::move(handlers.on_end)] {
          if (on_end) on_end(end);
        })) {}

 private:
  std::unique_ptr<Timer> timer_;
};

}  // namespace

RemoteBootstrap::RemoteBootstrap(EventLoop& loop, Options options)
    : loop_(loop), options_(std::move(options)) {
  std::erase_if(options_.env, [](const auto& variable) {
    return AsksForPassword(variable.first);
  });
  if (options_.program) options_.place.bytes = options_.program->size();
}

Result<std::unique_ptr<RemoteBootstrap>> RemoteBootstrap::Make(
    EventLoop& loop, Options options) {
  std::unique_ptr<RemoteBootstrap> bootstrap(
      new RemoteBootstrap(loop, std::move(options)));
  RemoteBootstrap* const self = bootstrap.get();
  Result<std::unique_ptr<LocalLauncher>> keeper = LocalLauncher::Start(
      loop,
      {.keeper_path = self->options_.keeper_path,
       .lifeline_grace = kGrace,
       .worker_nofile = self->options_.command_nofile,
       .spare = self->options_.spare},
      {.on_started = {},
       .on_start_failed =
           [self](LaunchId id, const Error& why) {
             if (RemoteAttempt* attempt = self->Take(id)) {
               attempt->OnNoStart(why);
             }
           },
       .on_exit =
           [self](LaunchId id, ExitStatus status) {
             if (RemoteAttempt* attempt = self->Take(id)) {
               attempt->OnExit(status);
             }
           },
       .on_stuck = {},
       .on_lost = [self](const Error& why) { self->OnLost(why); }});
  if (!keeper.ok()) return std::move(keeper).error();
  bootstrap->keeper_ = std::move(keeper).value();
  return bootstrap;
}

std::unique_ptr<BootstrapAttempt> RemoteBootstrap::Start(
    const RemoteHost& host, MakePayload make_payload,
    BootstrapHandlers handlers) {
  if (!MayNameAHost(host.host) || !MayNameAHost(host.login.user.value_or(""))) {
    return Refuse(host,
                  {ErrorCode::kInvalidArgument,
                   "there are characters in its name that ssh refuses"},
                  std::move(handlers));
  }
  Result<CommandPipes> made = MakePipes();
  if (!made.ok()) return Refuse(host, made.error(), std::move(handlers));
  CommandPipes& pipes = made.value();
  const LaunchId id{next_id_++};
  auto attempt = std::make_unique<RemoteAttempt>(
      loop_,
      RemoteAttempt::Plan{
          .host = host.host,
          .is_ssh = options_.shell.is_ssh(),
          .place = options_.place,
          .program = options_.program,
          .make_payload = std::move(make_payload),
          .by_hand = ByHand(options_.shell, host, options_.place),
          .program_version = options_.program_version},
      RemoteAttempt::Pipes{std::move(pipes.to_stdin.write_end),
                           std::move(pipes.from_stdout.read_end),
                           std::move(pipes.from_stderr.read_end)},
      std::move(handlers), [this, id] {
        (void)Take(id);
        keeper_->Stop(id, SIGKILL, Duration{0});
      });
  running_[id] = attempt.get();
  keeper_->Launch(
      id, {.argv = RemoteArgv(options_.shell, host, RemoteLine(options_.place)),
           .env = options_.env,
           .cwd = options_.cwd,
           .stdin_fd = std::move(pipes.to_stdin.read_end),
           .stdout_fd = std::move(pipes.from_stdout.write_end),
           .stderr_fd = std::move(pipes.from_stderr.write_end)});
  return attempt;
}

std::unique_ptr<BootstrapAttempt> RemoteBootstrap::Refuse(
    const RemoteHost& host, Error why, BootstrapHandlers handlers) {
  const bool later = why.code() == ErrorCode::kUnavailable;
  const std::string reason = why.message();
  BootstrapEnd end{
      StartPhase::kResolve,
      std::move(why).Wrap("host " + host.host + ": " +
                          std::string(PhaseName(StartPhase::kResolve))),
      reason, later ? Again::kWorthIt : Again::kHopeless};
  return std::make_unique<RefusedAttempt>(loop_, std::move(end),
                                          std::move(handlers));
}

RemoteAttempt* RemoteBootstrap::Take(LaunchId id) {
  const auto found = running_.find(id);
  if (found == running_.end()) return nullptr;
  RemoteAttempt* const attempt = found->second;
  running_.erase(found);
  return attempt;
}

// Each may destroy another, which then takes itself out.
void RemoteBootstrap::OnLost(const Error& why) {
  while (!running_.empty()) {
    Take(running_.begin()->first)
        ->OnNoStart({ErrorCode::kInternal, why.message()});
  }
}

}  // namespace hvd
