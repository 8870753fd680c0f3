#include "launcher/agent_workers.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "base/seconds.h"
#include "launcher/login_variables.h"
#include "launcher/output_pipe.h"

namespace hvd {
namespace {

constexpr int kStdin = 0;
constexpr int kStdout = 1;
constexpr int kStderr = 2;
// For hvdrun's word, after all that --host-timeout allows for; and for hvdrun.
constexpr Duration kVerdictPatience{2'000};

}  // namespace

AgentWorkers::AgentWorkers(EventLoop& loop, std::unique_ptr<ProbeDialer> dialer,
                           std::unique_ptr<LinkMeter> meter, Options options,
                           EndHandler on_end)
    : loop_(loop),
      dialer_(std::move(dialer)),
      meter_(std::move(meter)),
      options_(std::move(options)),
      on_end_(std::move(on_end)),
      output_(
          loop,
          [this](WorkerBytes bytes) { uplink_->SendBytes(std::move(bytes)); }),
      input_(
          loop, [this] { uplink_->ReadMore(); },
          [this](WorkerStream stream) { Say(AgentInputClosed{stream.id}); }),
      starter_(loop, options_.starting, options_.program,
               [this](AgentEvent event) { Say(std::move(event)); }) {}

LauncherHandlers AgentWorkers::launcher_handlers() {
  return {
      .on_started =
          [this](LaunchId id, pid_t pid) {
            Say(AgentStarted{id, pid});
          },
      .on_start_failed =
          [this](LaunchId id, const Error& error) {
            input_.Remove({id, kStdin});
            Say(AgentStartFailed{id, error.code(), error.message()});
          },
      .on_exit = [this](LaunchId id, ExitStatus status) { OnExit(id, status); },
      .on_stopped = [this](LaunchId id) { Say(AgentStopped{id}); },
      .on_stuck =
          [this](LaunchId id, pid_t pid) {
            Say(AgentStuck{id, pid});
          },
      .on_lost =
          [this](const Error& error) {
            // Every worker is being stopped already, and no news of it comes.
            if (!uplink_) return End(error);
            Say(AgentBroken{error.message()});
          }};
}

void AgentWorkers::Start(WorkerLauncher& launcher,
                         std::unique_ptr<AgentUplink> uplink,
                         AgentAbout about) {
  launcher_ = &launcher;
  uplink_ = std::move(uplink);
  life_signs_ = std::make_unique<LifeSigns>(
      loop_, options_.host_timeout, [this] { Say(AgentAlive{}); },
      [this] {
        End(Error{ErrorCode::kTimeout, "hvdrun has been silent for " +
                                           SecondsText(options_.host_timeout)});
      });
  uplink_->Start({.on_message = [this](const AgentCommand& c) { OnMessage(c); },
                  .on_bytes = [this](WorkerBytes b) { OnBytes(std::move(b)); },
                  .on_bytes_sent = [this] { output_.OnSent(); },
                  .on_closed = [this](Error why) { End(std::move(why)); }});
  OpenStore(about);
  Say(std::move(about));
  if (cut_off_) CutOff();
  uplink_->ReadMore();
}

void AgentWorkers::OpenStore(AgentAbout& about) {
  Result<std::unique_ptr<StoreEntrance>> store = StoreEntrance::Open(
      loop_, options_.ports,
      {.send = [this](TunnelPiece piece) { Say(std::move(piece)); },
       .taken = [this](TunnelTaken taken) { Say(taken); },
       .refused = [this](const std::string& why) { Say(AgentRefused{why}); }});
  if (!store.ok()) return Say(AgentBroken{store.error().message()});
  store_ = std::move(store).value();
  about.store_port = store_->port();
}

void AgentWorkers::CutOff() {
  // hvdrun may have to find out that our starter is lost.
  Duration patience = kVerdictPatience;
  if (uplink_) patience += options_.host_timeout;
  cut_off_ = loop_.After(patience, [this] {
    // A hvdrun that rests answers when it goes on.
    if (life_signs_ && life_signs_->expects_silence()) return CutOff();
    End(Error{ErrorCode::kUnavailable,
              "the connection that started this agent has ended"});
  });
  if (uplink_) Say(AgentCutOff{});
}

void AgentWorkers::OnMessage(const AgentCommand& command) {
  life_signs_->Heard();
  std::visit(Overloaded{[&](const AgentLaunch& c) { On(c); },
                        [&](const AgentSignal& c) {
                          launcher_->Signal(c.id, c.signo);
                        },
                        [&](const AgentStop& c) {
                          launcher_->Stop(c.id, c.first_signal, c.grace);
                        },
                        [&](const AgentStopLeftovers& c) {
                          launcher_->StopLeftovers(c.grace, [this] {
                            Say(AgentLeftoversStopped{});
                          });
                        },
                        [&](const AgentProbe& c) { On(c); },
                        [&](const AgentStartOther& c) { starter_.On(c); },
                        [&](const AgentEndOther& c) { starter_.On(c); },
                        [&](const AgentStay&) { cut_off_.reset(); },
                        [&](const AgentRest&) {
                          life_signs_->ExpectSilence();
                          launcher_->Rest([this] { Say(AgentResting{}); });
                        },
                        [](const AgentAlive&) {},
                        [&](const AgentFarewell&) { End(std::nullopt); },
                        [&](const AgentAskTime& c) { On(c); },
                        [&](const AgentMeasure& c) { On(c); },
                        [&](const TunnelPiece& c) {
                          if (store_) store_->OnPiece(c);
                        },
                        [&](const TunnelTaken& c) {
                          if (store_) store_->OnTaken(c);
                        }},
             command);
}

void AgentWorkers::OnBytes(WorkerBytes bytes) {
  life_signs_->Heard();
  if (input_.Write(std::move(bytes))) uplink_->ReadMore();
}

void AgentWorkers::On(const AgentLaunch& command) {
  Result<WorkerCommand> made = MakePipes(command);
  if (!made.ok()) {
    const Error& error = made.error();
    Say(AgentStartFailed{command.id, error.code(), error.message()});
    return;
  }
  launcher_->Launch(command.id, std::move(made).value());
}

void AgentWorkers::On(const AgentProbe& command) {
  dialer_->Dial(command.targets,
                [this, first = command.first](std::size_t index,
                                              const ProbeResult& result) {
                  Say(AgentProbed{first + index, result});
                });
}

void AgentWorkers::On(const AgentAskTime& command) {
  const auto since_1970 = WallNow().time_since_epoch();
  Say(AgentTime{
      command.number,
      std::chrono::duration_cast<std::chrono::microseconds>(since_1970)
          .count()});
}

void AgentWorkers::On(const AgentMeasure& command) {
  meter_->Measure(command.target,
                  [this, number = command.number](const LinkResult& result) {
                    Say(AgentMeasured{number, result});
                  });
}

Result<WorkerCommand> AgentWorkers::MakePipes(const AgentLaunch& command) {
  WorkerCommand made{.argv = command.argv,
                     .env = WithLoginVariables(command.env, options_.login_env),
                     .cwd = command.cwd};
  if (command.has_input) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      return Error::FromErrno("pipe", errno);
    }
    made.stdin_fd = UniqueFd(ends[0]);
    input_.Add({command.id, kStdin}, UniqueFd(ends[1]));
  }
  Result<OutputPipe> out = MakeOutputPipe();
  if (!out.ok()) return std::move(out).error();
  Result<OutputPipe> err = MakeOutputPipe();
  if (!err.ok()) return std::move(err).error();
  made.stdout_fd = std::move(out.value().write_end);
  made.stderr_fd = std::move(err.value().write_end);
  output_.Add({command.id, kStdout}, std::move(out.value().read_end));
  output_.Add({command.id, kStderr}, std::move(err.value().read_end));
  return made;
}

void AgentWorkers::OnExit(LaunchId id, ExitStatus status) {
  input_.Remove({id, kStdin});
  const std::uint64_t out = output_.Drain({id, kStdout});
  const std::uint64_t err = output_.Drain({id, kStderr});
  Say(AgentExited{id, status, out, err});
}

void AgentWorkers::Say(AgentEvent event) { uplink_->Send(std::move(event)); }

void AgentWorkers::End(std::optional<Error> why) {
  life_signs_.reset();
  cut_off_.reset();
  if (const auto on_end = std::exchange(on_end_, nullptr)) {
    on_end(std::move(why));
  }
}

}  // namespace hvd
