#include "launcher/local_launcher.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <variant>

#include "base/overloaded.h"
#include "base/process.h"
#include "launcher/stdin_relay.h"

namespace hvd {
namespace {

// A keeper with nothing left to keep ends in about a millisecond.
constexpr int kKeeperExitMs = 500;

struct SocketPair {
  UniqueFd ours;
  UniqueFd keepers;
};

Result<SocketPair> MakeSocketPair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error::FromErrno("socketpair", errno);
  }
  return SocketPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// The keeper reads no variable; a sanitizer's runtime and a profiler's do.
Result<pid_t> SpawnKeeper(const std::string& path, const UniqueFd& socket) {
  Result<std::string> program = FindProgram(path, "", "");
  if (!program.ok()) return program.error();
  return Spawn({.program = program.value(),
                .argv = {"hvdrun-keeper"},
                .env = CurrentEnvironment(),
                .cwd = "",
                .stdin_fd = socket.get()});
}

}  // namespace

Result<std::unique_ptr<LocalLauncher>> LocalLauncher::Start(
    EventLoop& loop, Options options, LauncherHandlers handlers) {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return Error::FromErrno("PR_SET_CHILD_SUBREAPER", errno);
  }
  Result<SocketPair> sockets = MakeSocketPair();
  if (!sockets.ok()) return sockets.error();
  const Result<pid_t> pid =
      SpawnKeeper(options.keeper_path, sockets.value().keepers);
  if (!pid.ok()) return Error(pid.error()).Wrap("keeper");
  Result<UniqueFd> pidfd = OpenPidfd(pid.value());
  if (!pidfd.ok()) return Error(pidfd.error()).Wrap("keeper");
  return std::unique_ptr<LocalLauncher>(new LocalLauncher(
      loop, std::move(options), std::move(handlers),
      std::move(sockets.value().ours), pid.value(), std::move(pidfd).value()));
}

LocalLauncher::LocalLauncher(EventLoop& loop, Options options,
                             LauncherHandlers handlers, UniqueFd socket,
                             pid_t keeper_pid, UniqueFd keeper_pidfd)
    : loop_(loop),
      options_(std::move(options)),
      handlers_(std::move(handlers)),
      channel_(std::move(socket)),
      keeper_pid_(keeper_pid),
      keeper_pidfd_(std::move(keeper_pidfd)) {
  readable_ = loop_.OnReadable(channel_.fd(), [this] { OnSocket(); });
  if (options_.stopped_limit) {
    stopped_.emplace(loop_, *options_.stopped_limit, [this](LaunchId id) {
      if (handlers_.on_stopped) handlers_.on_stopped(id);
    });
  }
  Command(KeeperConfigure{options_.lifeline_grace, options_.worker_nofile});
}

LocalLauncher::~LocalLauncher() {
  if (lost_) return;
  readable_.reset();
  writable_.reset();
  ::shutdown(channel_.fd(), SHUT_RDWR);
  if (!workers_.empty()) return;
  pollfd exited{keeper_pidfd_.get(), POLLIN, 0};
  if (::poll(&exited, 1, kKeeperExitMs) == 1) ReapPidfd(keeper_pidfd_.get());
}

void LocalLauncher::Launch(LaunchId id, WorkerCommand command) {
  if (lost_) {
    FailStart(id, {ErrorCode::kUnavailable, "the keeper is gone"});
    return;
  }
  if (!command.stdin_fd.valid()) {
    Result<UniqueFd> nothing = OpenDevNull();
    if (!nothing.ok()) return FailStart(id, nothing.error());
    command.stdin_fd = std::move(nothing).value();
  }
  std::vector<UniqueFd> fds;
  fds.push_back(std::move(command.stdin_fd));
  fds.push_back(std::move(command.stdout_fd));
  fds.push_back(std::move(command.stderr_fd));
  const Result<std::string> frame = EncodeFrame(KeeperCommand(KeeperLaunch{
      id, std::move(command.argv), std::move(command.env), command.cwd}));
  if (!frame.ok()) {
    FailStart(id, {ErrorCode::kUnavailable,
                   "arguments and environment: " + frame.error().message()});
    return;
  }
  workers_.emplace(id, Worker{});
  // A failing write shows as end-of-file on the read side.
  (void)channel_.Send(frame.value(), std::move(fds));
  WatchSocket();
}

void LocalLauncher::Signal(LaunchId id, int signo) {
  if (signo == SIGCONT && stopped_) stopped_->StartAnew();
  if (workers_.contains(id)) Command(KeeperSignal{id, signo});
}

void LocalLauncher::Stop(LaunchId id, int first_signal, Duration grace) {
  const auto found = workers_.find(id);
  if (found == workers_.end() || lost_) return;
  Worker& worker = found->second;
  if (!worker.ladder) {
    worker.ladder.emplace(first_signal, grace, loop_.Now());
  } else if (first_signal == SIGKILL) {
    worker.ladder->JumpToKill(loop_.Now());
  }
  Climb(id);
}

void LocalLauncher::Climb(LaunchId id) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  Worker& worker = found->second;
  while (const auto signo = worker.ladder->Next(loop_.Now())) {
    Command(KeeperSignal{id, *signo});
    Command(KeeperSignal{id, SIGCONT});
  }
  if (worker.ladder->gave_up(loop_.Now())) {
    OnStuck(id);
    return;
  }
  worker.rung_timer =
      loop_.At(worker.ladder->NextDeadline(), [this, id] { Climb(id); });
}

void LocalLauncher::OnStuck(LaunchId id) {
  const pid_t pid = workers_[id].pid;
  workers_.erase(id);
  const std::weak_ptr<int> alive = alive_;
  if (handlers_.on_stuck) handlers_.on_stuck(id, pid);
  if (alive.expired()) return;
  if (handlers_.on_exit) handlers_.on_exit(id, {0, SIGKILL});
}

void LocalLauncher::StopLeftovers(Duration grace, std::function<void()> done) {
  if (orphans_gone_) {
    Later(std::move(done));
    return;
  }
  leftovers_done_.push_back(std::move(done));
  if (orphans_) {
    orphans_->KillBy(loop_.Now() + grace);
  } else {
    Command(KeeperStopAll{grace});
  }
}

void LocalLauncher::Command(const KeeperCommand& command,
                            std::vector<UniqueFd> fds) {
  if (lost_) return;
  const Result<std::string> frame = EncodeFrame(command);
  if (!frame.ok()) return;
  (void)channel_.Send(frame.value(), std::move(fds));
  WatchSocket();
}

void LocalLauncher::WatchSocket() {
  if (!channel_.wants_write()) {
    writable_.reset();
  } else if (!writable_) {
    writable_ = loop_.OnWritable(channel_.fd(), [this] {
      (void)channel_.Flush();
      WatchSocket();
    });
  }
}

void LocalLauncher::OnSocket() {
  const auto received = channel_.Receive();
  if (!received.ok()) {
    Lose(received.error());
    return;
  }
  const std::weak_ptr<int> alive = alive_;
  for (;;) {
    const auto body = channel_.NextFrame();
    if (body.ok() && !body.value()) break;
    const auto event = body.ok() ? DecodeEvent(*body.value())
                                 : Result<KeeperEvent>(body.error());
    if (!event.ok()) {
      Lose(event.error());
      return;
    }
    OnEvent(event.value());
    if (alive.expired()) return;
  }
  if (received.value() == KeeperChannel::Received::kEndOfFile) {
    Lose({ErrorCode::kUnavailable, "the keeper was killed"});
  }
}

void LocalLauncher::OnEvent(const KeeperEvent& event) {
  std::visit(
      Overloaded{
          [&](const KeeperStarted& started) { OnStarted(started); },
          [&](const KeeperStartFailed& failed) { OnStartFailed(failed); },
          [&](const KeeperExited& exited) { OnExited(exited); },
          [&](const KeeperAllStopped&) { OnAllStopped(); }},
      event);
}

void LocalLauncher::OnStarted(const KeeperStarted& started) {
  const auto worker = workers_.find(started.id);
  if (worker == workers_.end()) return;  // given up meanwhile
  worker->second.pid = started.pid;
  if (stopped_) stopped_->Add(started.id, started.pid);
  if (handlers_.on_started) handlers_.on_started(started.id, started.pid);
}

void LocalLauncher::OnStartFailed(const KeeperStartFailed& failed) {
  if (workers_.erase(failed.id) == 0) return;
  if (handlers_.on_start_failed) {
    handlers_.on_start_failed(failed.id, {failed.code, failed.message});
  }
}

void LocalLauncher::OnExited(const KeeperExited& exited) {
  if (stopped_) stopped_->Remove(exited.id);
  if (workers_.erase(exited.id) == 0) return;
  if (handlers_.on_exit) handlers_.on_exit(exited.id, exited.status);
}

// The keeper answers each request, but one answer would do: it means that
// nothing was left, and later requests asked for no more than that.
void LocalLauncher::OnAllStopped() {
  const auto done = std::exchange(leftovers_done_, {});
  const std::weak_ptr<int> alive = alive_;
  for (const auto& fn : done) {
    if (fn) fn();
    if (alive.expired()) return;
  }
}

void LocalLauncher::Rest(std::function<void()> done) {
  if (stopped_) stopped_->Rest();
  // After what is queued for the keeper.
  Later(std::move(done));
}

void LocalLauncher::FailStart(LaunchId id, Error error) {
  Later([this, id, error = std::move(error)] {
    if (handlers_.on_start_failed) handlers_.on_start_failed(id, error);
  });
}

void LocalLauncher::Later(std::function<void()> fn) {
  loop_.Post([alive = std::weak_ptr<int>(alive_), fn = std::move(fn)] {
    if (!alive.expired() && fn) fn();
  });
}

void LocalLauncher::Lose(Error why) {
  lost_ = true;
  readable_.reset();
  writable_.reset();
  // The socket may have failed while the keeper lives: two must not keep.
  ::kill(keeper_pid_, SIGKILL);
  ReapPidfd(keeper_pidfd_.get());
  workers_.clear();
  stopped_.reset();
  orphans_ = std::make_unique<OrphanSweep>(loop_, options_.lifeline_grace,
                                           options_.spare,
                                           [this](int) { OnOrphansGone(); });
  if (handlers_.on_lost) {
    handlers_.on_lost(
        std::move(why).Wrap("keeper " + std::to_string(keeper_pid_)));
  }
}

void LocalLauncher::OnOrphansGone() {
  orphans_gone_ = true;
  OnAllStopped();
}

}  // namespace hvd
