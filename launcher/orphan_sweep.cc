#include "launcher/orphan_sweep.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace hvd {
namespace {

// Nobody tells hvdrun of an adopted child's exit, so it looks this often.
constexpr Duration kLookInterval{50};

}  // namespace

OrphanSweep::OrphanSweep(EventLoop& loop, Duration grace,
                         std::function<bool(pid_t)> spare,
                         std::function<void(int)> done)
    : loop_(loop),
      spare_(std::move(spare)),
      done_(std::move(done)),
      sweep_(grace, loop.Now()),
      timer_(loop_.After(Duration::zero(), [this] { Step(); })) {}

void OrphanSweep::KillBy(Instant when) {
  sweep_.KillBy(when);
  timer_ = loop_.At(sweep_.NextDeadline(), [this] { Step(); });
}

void OrphanSweep::Step() {
  const std::vector<ProcessInfo> orphans = Orphans();
  Reap(orphans);
  SendSignals(sweep_.On(orphans, loop_.Now()));
  if (sweep_.done()) {
    const auto done = std::move(done_);
    done(sweep_.left());
    return;
  }
  const Instant next =
      std::min(sweep_.NextDeadline(), loop_.Now() + kLookInterval);
  timer_ = loop_.At(next, [this] { Step(); });
}

// What is in hvdrun's own session was there before it (a shell that exec'ed it)
// or is of its own making; each worker has a session of its own.
std::vector<ProcessInfo> OrphanSweep::Orphans() const {
  const pid_t self = ::getpid();
  const pid_t own_session = ::getsid(0);
  std::vector<ProcessInfo> all = ScanProcesses();
  if (spare_) {
    std::erase_if(all, [&](const ProcessInfo& process) {
      return process.parent == self && spare_(process.pid);
    });
  }
  std::vector<ProcessInfo> below = DescendantsOf(all, self);
  std::erase_if(below, [&](const ProcessInfo& process) {
    return process.session == own_session;
  });
  return below;
}

void OrphanSweep::Reap(const std::vector<ProcessInfo>& orphans) const {
  const pid_t self = ::getpid();
  for (const ProcessInfo& process : orphans) {
    if (process.parent == self && !process.alive) {
      ::waitpid(process.pid, nullptr, WNOHANG);
    }
  }
}

}  // namespace hvd
