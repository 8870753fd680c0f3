#include "launcher/keeper.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/descendants.h"
#include "base/overloaded.h"
#include "launcher/end_order.h"
#include "launcher/keeper_channel.h"
#include "launcher/keeper_protocol.h"
#include "launcher/stop_sweep.h"
#include "launcher/worker_spawn.h"

namespace hvd {
namespace {

// Exits that come together are looked after with one scan of /proc, and a job
// of short workers is over before the first: a scan costs as much as a spawn.
constexpr Duration kLookDelay{50};

// From the first look at a dying process to its end. Its memory is freed by
// then; a machine under load is what takes time.
constexpr Duration kDyingLimit{50};

struct Ended {
  pid_t pid = 0;
  ExitStatus status;
};

// Killed, and not by what a program does about a peer that is gone: abort(), a
// write to a closed pipe, a polite signal to itself.
bool DiedOfItself(const ExitStatus& status) {
  switch (status.signal) {
    case 0:
    case SIGABRT:
    case SIGPIPE:
    case SIGTERM:
      return false;
    default:
      return true;
  }
}

// What one ended worker left in its session.
struct Leftover {
  pid_t session = 0;
  StopSweep sweep;
};

// Blocked rather than ignored: a worker starts with default actions and an
// empty mask either way, and nothing but the lifeline ends the keeper.
UniqueFd BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  return UniqueFd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
}

class Keeper {
 public:
  explicit Keeper(UniqueFd socket)
      : channel_(std::move(socket)), child_signals_(BlockSignals()) {}

  int Run();

 private:
  void Wait();
  void ReadCommands();
  void OnCommand(KeeperCommand command);
  void Configure(const KeeperConfigure& configure);
  void Launch(const KeeperLaunch& launch);
  void SignalSession(const KeeperSignal& signal);
  void StopAll(Duration grace);
  void OnHvdrunGone();

  void DrainChildSignals() const;
  void Reap();
  void ReapInto(std::vector<Ended>& ended);
  void AwaitDying(std::vector<Ended>& ended);
  void PutCauseFirst(std::vector<Ended>& ended);
  bool AnyDying() const;
  void OnWorkerExit(const Ended& ended);
  void LookAround();
  std::vector<ProcessInfo> Look() const;
  void StepLeftovers(const std::vector<ProcessInfo>& below);
  void StepStopAll(const std::vector<ProcessInfo>& below);
  Instant NextLook() const;
  void Tell(const KeeperEvent& event);

  SteadyClock clock_;
  KeeperChannel channel_;
  UniqueFd child_signals_;
  Duration grace_{10'000};  // until Configure says otherwise
  std::optional<FdLimit> nofile_;
  std::map<LaunchId, pid_t> running_;
  EndOrder end_order_;
  std::vector<Leftover> leftovers_;
  std::optional<StopSweep> stop_all_;
  int stop_all_requests_ = 0;
  bool childless_ = true;
  bool hvdrun_gone_ = false;
};

int Keeper::Run() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || !child_signals_.valid()) {
    return 1;
  }
  while (!hvdrun_gone_ || stop_all_) Wait();
  return 0;
}

void Keeper::Wait() {
  std::array<pollfd, 2> fds{};
  fds[0] = {child_signals_.get(), POLLIN, 0};
  const auto write = static_cast<short>(channel_.wants_write() ? POLLOUT : 0);
  fds[1] = {hvdrun_gone_ ? -1 : channel_.fd(),
            static_cast<short>(POLLIN | write), 0};
  int timeout = -1;
  const Instant next_look = NextLook();
  if (next_look != Instant::max()) {
    const auto left =
        std::chrono::ceil<Duration>(next_look - clock_.Now()).count();
    timeout = static_cast<int>(std::max<Duration::rep>(0, left));
  }
  ::poll(fds.data(), fds.size(), timeout);
  if (fds[0].revents != 0) {
    DrainChildSignals();
    Reap();
  }
  if (fds[1].revents != 0) ReadCommands();
  LookAround();
}

void Keeper::ReadCommands() {
  bool alive = channel_.Flush().ok();
  const auto received = channel_.Receive();
  alive = alive && received.ok() &&
          received.value() != KeeperChannel::Received::kEndOfFile;
  // What came before the end still counts for nothing: all of it would be
  // stopped at once.
  while (alive) {
    const auto body = channel_.NextFrame();
    if (body.ok() && !body.value()) break;
    auto command = body.ok() ? DecodeCommand(*body.value())
                             : Result<KeeperCommand>(body.error());
    alive = command.ok();
    if (alive) OnCommand(std::move(command).value());
  }
  if (!alive) OnHvdrunGone();
}

void Keeper::OnCommand(KeeperCommand command) {
  std::visit(
      Overloaded{[&](const KeeperConfigure& c) { Configure(c); },
                 [&](const KeeperLaunch& launch) { Launch(launch); },
                 [&](const KeeperSignal& signal) { SignalSession(signal); },
                 [&](const KeeperStopAll& stop) {
                   ++stop_all_requests_;
                   StopAll(stop.grace);
                 }},
      command);
}

void Keeper::Configure(const KeeperConfigure& configure) {
  grace_ = configure.grace;
  nofile_ = configure.nofile;
}

void Keeper::Launch(const KeeperLaunch& launch) {
  const UniqueFd in = channel_.TakeFd();
  const UniqueFd out = channel_.TakeFd();
  const UniqueFd err = channel_.TakeFd();
  if (!in.valid() || !out.valid() || !err.valid()) {
    Tell(KeeperStartFailed{
        launch.id, ErrorCode::kUnavailable,
        "the keeper could not receive the worker's descriptors (ulimit -n?)"});
    return;
  }
  const Result<pid_t> pid =
      SpawnWorker(launch, {in.get(), out.get(), err.get()}, nofile_);
  if (!pid.ok()) {
    Tell(KeeperStartFailed{launch.id, pid.error().code(),
                           pid.error().message()});
    return;
  }
  // The number was free, so no session of that number is left.
  std::erase_if(leftovers_, [&](const Leftover& leftover) {
    return leftover.session == pid.value();
  });
  running_[launch.id] = pid.value();
  end_order_.Watch(pid.value());
  childless_ = false;
  Tell(KeeperStarted{launch.id, pid.value()});
}

void Keeper::SignalSession(const KeeperSignal& signal) {
  const auto worker = running_.find(signal.id);
  if (worker == running_.end()) return;
  const pid_t session = worker->second;
  // Not yet reaped, so the number is still its own.
  ::kill(-session, signal.signo);
  std::vector<pid_t> groups{session};
  for (const ProcessInfo& process : Look()) {
    if (process.session != session || process.group <= 1) continue;
    const auto known = std::find(groups.begin(), groups.end(), process.group);
    if (known != groups.end()) continue;
    groups.push_back(process.group);
    ::kill(-process.group, signal.signo);
  }
}

void Keeper::StopAll(Duration grace) {
  const Instant now = clock_.Now();
  if (stop_all_) {
    stop_all_->KillBy(now + grace);
  } else {
    stop_all_.emplace(grace, now);
  }
}

void Keeper::OnHvdrunGone() {
  hvdrun_gone_ = true;
  StopAll(grace_);
}

void Keeper::DrainChildSignals() const {
  signalfd_siginfo info{};
  while (::read(child_signals_.get(), &info, sizeof info) > 0) {
  }
}

// The first failure that is told counts as the cause.
void Keeper::Reap() {
  std::vector<Ended> ended;
  ReapInto(ended);
  const bool failed =
      std::any_of(ended.begin(), ended.end(),
                  [](const Ended& e) { return !e.status.success(); });
  if (failed) {
    AwaitDying(ended);
    PutCauseFirst(ended);
  }
  for (const Ended& e : ended) {
    end_order_.Forget(e.pid);
    OnWorkerExit(e);
  }
}

// In the order in which they ended, but for this: a dying process closes its
// connections before it has ended, and those who notice may overtake it on a
// busy machine. They don't die of a SIGKILL or SIGSEGV over it.
void Keeper::PutCauseFirst(std::vector<Ended>& ended) {
  std::map<pid_t, std::size_t> place;
  for (const Ended& e : ended) place[e.pid] = end_order_.PlaceOf(e.pid);
  std::sort(ended.begin(), ended.end(), [&](const Ended& a, const Ended& b) {
    return std::pair(!DiedOfItself(a.status), place[a.pid]) <
           std::pair(!DiedOfItself(b.status), place[b.pid]);
  });
}

void Keeper::ReapInto(std::vector<Ended>& ended) {
  for (;;) {
    int wait_status = 0;
    const pid_t pid = ::waitpid(-1, &wait_status, WNOHANG);
    if (pid == 0) return;
    if (pid < 0) {
      childless_ = errno == ECHILD;
      return;
    }
    ended.push_back({pid, ExitStatusFromWait(wait_status)});
  }
}

// The kernel closes a dying worker's connections, which its peers notice,
// before it lets us reap it.
void Keeper::AwaitDying(std::vector<Ended>& ended) {
  const Instant limit = clock_.Now() + kDyingLimit;
  for (Instant now = clock_.Now(); now < limit && AnyDying();
       now = clock_.Now()) {
    pollfd child{child_signals_.get(), POLLIN, 0};
    const auto left = std::chrono::ceil<Duration>(limit - now).count();
    ::poll(&child, 1, static_cast<int>(left));
    DrainChildSignals();
    ReapInto(ended);
  }
}

bool Keeper::AnyDying() const {
  return std::any_of(running_.begin(), running_.end(), [](const auto& worker) {
    const std::optional<ProcessInfo> process = LookAt(worker.second);
    return process && (process->exiting || !process->alive);
  });
}

void Keeper::OnWorkerExit(const Ended& ended) {
  const auto worker = std::find_if(
      running_.begin(), running_.end(),
      [&](const auto& entry) { return entry.second == ended.pid; });
  if (worker == running_.end()) return;  // an orphan that came to us
  Tell(KeeperExited{worker->first, ended.status});
  running_.erase(worker);
  leftovers_.push_back(
      {ended.pid, StopSweep(grace_, clock_.Now() + kLookDelay)});
}

// All that is below us. Without a child there is nothing: an orphan's new
// parent is the nearest subreaper, which is this process.
std::vector<ProcessInfo> Keeper::Look() const {
  if (childless_) return {};
  const pid_t self = ::getpid();
  std::vector<ProcessInfo> below = DescendantsOf(ScanProcesses(), self);
  std::erase_if(below, [&](const ProcessInfo& p) { return p.session == self; });
  return below;
}

void Keeper::LookAround() {
  const bool look_now = childless_ || stop_all_ || clock_.Now() >= NextLook();
  if (!look_now || (leftovers_.empty() && !stop_all_)) return;
  const std::vector<ProcessInfo> below = Look();
  StepLeftovers(below);
  StepStopAll(below);
}

void Keeper::StepLeftovers(const std::vector<ProcessInfo>& below) {
  for (auto& [session, sweep] : leftovers_) {
    std::vector<ProcessInfo> members;
    for (const ProcessInfo& process : below) {
      if (process.session == session) members.push_back(process);
    }
    SendSignals(sweep.On(members, clock_.Now()));
  }
  std::erase_if(leftovers_,
                [](const Leftover& leftover) { return leftover.sweep.done(); });
}

void Keeper::StepStopAll(const std::vector<ProcessInfo>& below) {
  if (!stop_all_) return;
  SendSignals(stop_all_->On(below, clock_.Now()));
  if (!stop_all_->done()) return;
  const int left = stop_all_->left();
  stop_all_.reset();
  for (; stop_all_requests_ > 0; --stop_all_requests_) {
    Tell(KeeperAllStopped{left});
  }
}

Instant Keeper::NextLook() const {
  Instant next = Instant::max();
  if (stop_all_) next = stop_all_->NextDeadline();
  for (const Leftover& leftover : leftovers_) {
    next = std::min(next, leftover.sweep.NextDeadline());
  }
  return next;
}

void Keeper::Tell(const KeeperEvent& event) {
  if (hvdrun_gone_) return;
  const Result<std::string> frame = EncodeFrame(event);
  // A failing write is an end of file for the next read.
  if (frame.ok()) (void)channel_.Send(frame.value());
}

}  // namespace

int RunKeeper(UniqueFd socket) { return Keeper(std::move(socket)).Run(); }

}  // namespace hvd
