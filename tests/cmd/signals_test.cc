#include "cmd/signals.h"

#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <vector>

using namespace std::chrono_literals;

namespace hvd {
namespace {

// Leaves mask and dispositions as they were.
class SignalsRestored {
 public:
  SignalsRestored() {
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
    sigaction(SIGHUP, nullptr, &hup_);
  }
  ~SignalsRestored() {
    sigaction(SIGHUP, &hup_, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  SignalsRestored(const SignalsRestored&) = delete;
  SignalsRestored& operator=(const SignalsRestored&) = delete;

 private:
  sigset_t mask_{};
  struct sigaction hup_ {};
};

}  // namespace

TEST_CASE("SignalSource turns signals into calls on the loop", "[cmd]") {
  const SignalsRestored restored;
  const sigset_t handled = BlockHandledSignals();
  EventLoop loop;
  std::vector<int> seen;
  const SignalSource source(loop, handled,
                            [&](int signo) { seen.push_back(signo); });
  REQUIRE(::kill(::getpid(), SIGUSR1) == 0);
  REQUIRE(::kill(::getpid(), SIGTERM) == 0);
  REQUIRE(loop.RunUntil([&] { return seen.size() == 2; }, 5s));
  CHECK(seen == std::vector<int>{SIGUSR1, SIGTERM});
}

TEST_CASE("a signal that was ignored at the start stays ignored", "[cmd]") {
  const SignalsRestored restored;
  ::signal(SIGHUP, SIG_IGN);  // as nohup does
  const sigset_t handled = BlockHandledSignals();
  CHECK(sigismember(&handled, SIGHUP) == 0);
  CHECK(sigismember(&handled, SIGTERM) == 1);
  EventLoop loop;
  int seen = 0;
  const SignalSource source(loop, handled, [&](int) { ++seen; });
  REQUIRE(::kill(::getpid(), SIGHUP) == 0);
  CHECK_FALSE(loop.RunUntil([&] { return seen > 0; }, 20ms));
}

}  // namespace hvd
