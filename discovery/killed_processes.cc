#include "discovery/killed_processes.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

namespace hvd {
namespace {

// SIGKILL takes about a millisecond, unless a file server does not answer.
constexpr Duration kLongestWait{500};

}  // namespace

KilledProcesses::~KilledProcesses() {
  const Instant end = loop_.Now() + kLongestWait;
  for (const Killed& killed : processes_) {
    pollfd ended{killed.pidfd.get(), POLLIN, 0};
    const auto left =
        std::chrono::duration_cast<Duration>(end - loop_.Now()).count();
    ::poll(&ended, 1, std::max(static_cast<int>(left), 0));
  }
  ReapAll();
}

void KilledProcesses::Add(std::vector<UniqueFd> pidfds) {
  for (UniqueFd& pidfd : pidfds) {
    processes_.push_back({std::move(pidfd), nullptr});
    Killed& killed = processes_.back();
    killed.watch = loop_.OnReadable(killed.pidfd.get(),
                                    [this, &killed] { OnEnded(killed); });
  }
}

// One whose parent is another one of them is ours only once that has ended too.
void KilledProcesses::OnEnded(Killed& killed) {
  killed.watch.reset();
  for (const Killed& other : processes_) {
    if (other.watch) return;
  }
  ReapAll();
}

void KilledProcesses::ReapAll() {
  for (Killed& killed : processes_) {
    killed.watch.reset();
    siginfo_t info{};
    // Fails for what is init's child, not ours.
    (void)::waitid(P_PIDFD, static_cast<id_t>(killed.pidfd.get()), &info,
                   WEXITED | WNOHANG);
  }
  processes_.clear();
}

}  // namespace hvd
