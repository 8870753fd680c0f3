#include "launcher/blocked_signal.h"

#include <csignal>
#include <ctime>

namespace hvd {
namespace {

sigset_t Only(int signo) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signo);
  return set;
}

bool IsPending(int signo) {
  sigset_t pending;
  sigemptyset(&pending);
  ::sigpending(&pending);
  return sigismember(&pending, signo) == 1;
}

}  // namespace

BlockedSignal::BlockedSignal(int signo)
    : signo_(signo), was_pending_(IsPending(signo)) {
  const sigset_t set = Only(signo);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  was_blocked_ = sigismember(&before, signo) == 1;
}

BlockedSignal::~BlockedSignal() {
  const sigset_t set = Only(signo_);
  if (!was_pending_ && IsPending(signo_)) {
    const timespec now{};
    ::sigtimedwait(&set, nullptr, &now);
  }
  if (!was_blocked_) ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace hvd
