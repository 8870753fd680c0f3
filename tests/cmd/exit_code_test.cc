#include "cmd/exit_code.h"

#include <catch2/catch.hpp>
#include <csignal>

namespace hvd {
namespace {

Outcome With(Verdict verdict) {
  Outcome outcome;
  outcome.verdict = verdict;
  outcome.reason = "because";
  return outcome;
}

Outcome Failed(ExitStatus status) {
  Outcome outcome = With(Verdict::kWorkerFailed);
  outcome.workers.resize(2);
  outcome.workers[0].rank = 0;
  outcome.workers[0].status = ExitStatus{99, 0};
  outcome.workers[0].told_to_stop = true;
  outcome.workers[1].rank = 1;
  outcome.workers[1].status = status;
  outcome.first_failed = outcome.workers[1];
  return outcome;
}

Outcome Signalled(int signo) {
  Outcome outcome = With(Verdict::kSignalled);
  outcome.signo = signo;
  return outcome;
}

}  // namespace

TEST_CASE("every way a job ends has its exit code", "[cmd][unit]") {
  CHECK(ExitCodeOf(With(Verdict::kSucceeded)) == 0);
  CHECK(ExitCodeOf(Signalled(SIGINT)) == 130);
  CHECK(ExitCodeOf(Signalled(SIGTERM)) == 143);
  CHECK(ExitCodeOf(Signalled(SIGHUP)) == 129);
  CHECK(ExitCodeOf(With(Verdict::kTimedOut)) == 124);
  CHECK(ExitCodeOf(With(Verdict::kNotFound)) == 127);
  CHECK(ExitCodeOf(With(Verdict::kCannotRun)) == 126);
  CHECK(ExitCodeOf(With(Verdict::kLauncherFailed)) == 125);
}

TEST_CASE("a failed worker's own code or signal becomes hvdrun's",
          "[cmd][unit]") {
  for (int code = 1; code <= 255; ++code) {
    CHECK(ExitCodeOf(Failed({code, 0})) == code);
  }
  for (const int signo : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGKILL,
                          SIGPIPE, SIGSEGV, SIGTERM, SIGTRAP}) {
    CHECK(ExitCodeOf(Failed({0, signo})) == 128 + signo);
  }
}

TEST_CASE("a failure without a status is our own fault", "[cmd][unit]") {
  CHECK(ExitCodeOf(With(Verdict::kWorkerFailed)) == 125);
}

TEST_CASE("the last line says which rule gave the code", "[cmd][unit]") {
  Outcome good = With(Verdict::kSucceeded);
  good.workers.resize(4);
  CHECK(ExitLine(good) == "exit code 0: all 4 workers exited with 0");
  good.workers.resize(1);
  CHECK(ExitLine(good) == "exit code 0: the worker exited with 0");
  CHECK(ExitLine(Failed({7, 0})) == "exit code 7: because");
  CHECK(ExitLineOfRefusal() == "exit code 125: nothing was started");
}

}  // namespace hvd
