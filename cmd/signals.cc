#include "cmd/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <utility>

#include "base/check.h"

namespace hvd {

sigset_t BlockHandledSignals() {
  sigset_t handled;
  sigemptyset(&handled);
  for (const int signo :
       {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT}) {
    struct sigaction now {};
    sigaction(signo, nullptr, &now);
    // A blocked signal is queued even if it is ignored, so leave those alone.
    if (now.sa_handler != SIG_IGN) sigaddset(&handled, signo);
  }
  HVD_CHECK(pthread_sigmask(SIG_BLOCK, &handled, nullptr) == 0);
  signal(SIGPIPE, SIG_IGN);
  return handled;
}

SignalSource::SignalSource(EventLoop& loop, const sigset_t& handled,
                           std::function<void(int)> on_signal)
    : on_signal_(std::move(on_signal)),
      fd_(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK)) {
  HVD_CHECK(fd_.valid());
  watch_ = loop.OnReadable(fd_.get(), [this] { Read(); });
}

void SignalSource::Read() {
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) ==
         static_cast<ssize_t>(sizeof info)) {
    on_signal_(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace hvd
