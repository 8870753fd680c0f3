#include "launcher/agent_launcher.h"

#include <csignal>
#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "base/seconds.h"
#include "launcher/login_variables.h"

namespace hvd {
namespace {

constexpr int kStdin = 0;
constexpr int kStdout = 1;
constexpr int kStderr = 2;

}  // namespace

AgentLauncher::AgentLauncher(EventLoop& loop, std::unique_ptr<AgentLink> link,
                             Options options, LauncherHandlers handlers,
                             HostHandlers host_handlers)
    : loop_(loop),
      options_(std::move(options)),
      handlers_(std::move(handlers)),
      host_handlers_(std::move(host_handlers)),
      link_(std::move(link)),
      input_(loop,
             [this](WorkerBytes bytes) {
               if (link_) link_->SendBytes(std::move(bytes));
             }),
      output_(
          loop, [this] { OnTaken(); }, [](WorkerStream) {}),
      store_(
          loop, options_.store_port,
          [this](TunnelPiece piece) { Send(std::move(piece)); },
          [this](TunnelTaken taken) { Send(taken); }) {
  life_signs_ = std::make_unique<LifeSigns>(
      loop_, options_.host_timeout, [this] { Send(AgentAlive{}); },
      [this, limit = options_.host_timeout] {
        Lose({ErrorCode::kTimeout,
              "its agent has been silent for " + SecondsText(limit)});
      });
  link_->Start({.on_message = [this](AgentEvent e) { OnMessage(std::move(e)); },
                .on_bytes = [this](WorkerBytes b) { OnBytes(std::move(b)); },
                .on_bytes_sent = [this] { input_.OnSent(); },
                .on_closed = [this](Error why) { Lose(std::move(why)); }});
  link_->ReadMore();
}

AgentLauncher::~AgentLauncher() {
  if (link_) link_->Finish(AgentFarewell{});
}

void AgentLauncher::Send(AgentCommand command) {
  if (link_) link_->Send(std::move(command));
}

void AgentLauncher::Launch(LaunchId id, WorkerCommand command) {
  if (!link_) {
    FailStart(id, {ErrorCode::kUnavailable, "its host is lost"});
    return;
  }
  Worker& worker = workers_[id];
  output_.Add({id, kStdout}, std::move(command.stdout_fd));
  output_.Add({id, kStderr}, std::move(command.stderr_fd));
  const bool has_input = command.stdin_fd.valid();
  Send(AgentLaunch{id, std::move(command.argv),
                   WithoutLoginVariables(std::move(command.env), options_.kept),
                   std::move(command.cwd), has_input});
  worker.input = std::move(command.stdin_fd);
}

void AgentLauncher::Signal(LaunchId id, int signo) {
  if (workers_.contains(id)) Send(AgentSignal{id, signo});
}

void AgentLauncher::Stop(LaunchId id, int first_signal, Duration grace) {
  if (workers_.contains(id)) Send(AgentStop{id, first_signal, grace});
}

void AgentLauncher::StopLeftovers(Duration grace, std::function<void()> done) {
  if (!link_) {
    Later(std::move(done));
    return;
  }
  leftovers_done_.push_back(std::move(done));
  Send(AgentStopLeftovers{grace});
}

void AgentLauncher::Rest(std::function<void()> done) {
  if (!link_) {
    Later(std::move(done));
    return;
  }
  resting_.push_back(std::move(done));
  Send(AgentRest{});
}

void AgentLauncher::OnMessage(AgentEvent event) {
  life_signs_->Heard();
  std::visit(
      Overloaded{
          [&](const AgentAlive&) {},
          [&](const AgentAbout&) { host_handlers_.on_message(event); },
          [&](const AgentProbed&) { host_handlers_.on_message(event); },
          [&](const AgentTime&) { host_handlers_.on_message(event); },
          [&](const AgentMeasured&) { host_handlers_.on_message(event); },
          [&](const AgentOtherLogin&) { host_handlers_.on_message(event); },
          [&](const AgentOtherGreeted&) { host_handlers_.on_message(event); },
          [&](const AgentOtherSaid&) { host_handlers_.on_message(event); },
          [&](const AgentOtherEnded&) { host_handlers_.on_message(event); },
          [&](const AgentCutOff&) { host_handlers_.on_message(event); },
          [&](const AgentBroken& e) {
            Lose({ErrorCode::kUnavailable, e.message});
          },
          [&](const AgentInputClosed& e) {
            input_.Remove({e.id, kStdin});
          },
          [&](const AgentStarted& e) { On(e); },
          [&](const AgentStartFailed& e) { On(e); },
          [&](const AgentExited& e) { On(e); },
          [&](const AgentStuck& e) { On(e); },
          [&](const AgentStopped& e) {
            if (handlers_.on_stopped) handlers_.on_stopped(e.id);
          },
          [&](const AgentLeftoversStopped&) { CallAll(leftovers_done_); },
          [&](const AgentResting&) { CallAll(resting_); },
          [&](const TunnelPiece& e) { store_.OnPiece(e); },
          [&](const TunnelTaken& e) { store_.OnTaken(e); },
          [&](const AgentRefused&) { host_handlers_.on_message(event); }},
      event);
}

void AgentLauncher::OnBytes(WorkerBytes bytes) {
  life_signs_->Heard();
  writing_ = bytes.stream;
  writing_bytes_ = bytes.bytes.size();
  if (output_.Write(std::move(bytes))) OnTaken();
}

void AgentLauncher::OnTaken() {
  if (!link_) return;
  link_->ReadMore();
  const auto worker = workers_.find(writing_.id);
  if (worker == workers_.end()) return;
  worker->second.taken.at(static_cast<std::size_t>(writing_.fd)) +=
      writing_bytes_;
  CheckEnded(writing_.id);
}

void AgentLauncher::On(const AgentStarted& event) {
  const auto worker = workers_.find(event.id);
  if (worker == workers_.end()) return;
  worker->second.pid = event.pid;
  if (worker->second.input.valid()) {
    input_.Add({event.id, kStdin}, std::move(worker->second.input));
  }
  if (handlers_.on_started) handlers_.on_started(event.id, event.pid);
}

void AgentLauncher::On(const AgentStartFailed& event) {
  if (!workers_.contains(event.id)) return;
  Forget(event.id);
  output_.Remove({event.id, kStdout});
  output_.Remove({event.id, kStderr});
  if (handlers_.on_start_failed) {
    handlers_.on_start_failed(
        event.id,
        Error(event.code, event.message).Wrap("on host " + options_.host));
  }
}

void AgentLauncher::On(const AgentExited& event) {
  const auto worker = workers_.find(event.id);
  if (worker == workers_.end()) return;
  worker->second.ended = event;
  worker->second.patience =
      loop_.After(kOutputPatience, [this, id = event.id] { TellEnd(id); });
  CheckEnded(event.id);
}

void AgentLauncher::On(const AgentStuck& event) {
  if (!workers_.contains(event.id)) return;
  if (handlers_.on_stuck) handlers_.on_stuck(event.id, event.pid);
}

void AgentLauncher::CheckEnded(LaunchId id) {
  const auto found = workers_.find(id);
  if (found == workers_.end() || !found->second.ended) return;
  const Worker& worker = found->second;
  if (worker.taken[kStdout] >= worker.ended->stdout_bytes &&
      worker.taken[kStderr] >= worker.ended->stderr_bytes) {
    TellEnd(id);
  }
}

void AgentLauncher::TellEnd(LaunchId id) {
  const ExitStatus status = workers_.at(id).ended->status;
  // Its output stays open: what it left behind may still print.
  Forget(id);
  if (handlers_.on_exit) handlers_.on_exit(id, status);
}

void AgentLauncher::Forget(LaunchId id) {
  workers_.erase(id);
  input_.Remove({id, kStdin});
}

void AgentLauncher::Lose(Error why) {
  if (!link_) return;
  link_.reset();
  life_signs_.reset();
  for (const auto& [id, worker] : workers_) {
    output_.Remove({id, kStdout});
    output_.Remove({id, kStderr});
  }
  workers_.clear();
  const std::weak_ptr<int> alive = alive_;
  CallAll(resting_);
  if (!alive.expired()) CallAll(leftovers_done_);
  if (!alive.expired()) host_handlers_.on_lost(std::move(why));
}

void AgentLauncher::CallAll(std::vector<std::function<void()>>& waiting) {
  const std::weak_ptr<int> alive = alive_;
  for (const auto& done : std::exchange(waiting, {})) {
    if (done) done();
    if (alive.expired()) return;
  }
}

void AgentLauncher::FailStart(LaunchId id, Error error) {
  Later([this, id, error = std::move(error)] {
    if (handlers_.on_start_failed) handlers_.on_start_failed(id, error);
  });
}

void AgentLauncher::Later(std::function<void()> fn) {
  loop_.Post([alive = std::weak_ptr<int>(alive_), fn = std::move(fn)] {
    if (!alive.expired() && fn) fn();
  });
}

}  // namespace hvd
