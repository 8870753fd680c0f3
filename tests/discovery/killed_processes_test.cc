#include "discovery/killed_processes.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "base/process.h"
#include "tests/support/processes.h"

using namespace std::chrono_literals;

namespace hvd {

using testing::ChildrenOf;

namespace {

struct Started {
  pid_t pid;
  std::vector<UniqueFd> pidfd;
};

Started StartSleeper() {
  const Result<pid_t> pid = Spawn({.program = "/usr/bin/sleep",
                                   .argv = {"sleep", "1000"},
                                   .env = {},
                                   .cwd = ""});
  REQUIRE(pid.ok());
  Result<UniqueFd> pidfd = OpenPidfd(pid.value());
  REQUIRE(pidfd.ok());
  Started started{pid.value(), {}};
  started.pidfd.push_back(std::move(pidfd).value());
  return started;
}

}  // namespace

TEST_CASE("KilledProcesses reaps each child once all have ended",
          "[discovery][process]") {
  EventLoop loop;
  KilledProcesses killed(loop);
  Started one = StartSleeper();
  Started two = StartSleeper();
  killed.Add(std::move(one.pidfd));
  killed.Add(std::move(two.pidfd));
  ::kill(one.pid, SIGKILL);
  CHECK_FALSE(loop.RunUntil([&] { return killed.empty(); }, 20ms));
  ::kill(two.pid, SIGKILL);
  CHECK(loop.RunUntil([&] { return killed.empty(); }, 5s));
  CHECK(ChildrenOf(::getpid()).empty());
}

TEST_CASE("KilledProcesses waits for those that end when it is destroyed",
          "[discovery][process]") {
  EventLoop loop;
  {
    KilledProcesses killed(loop);
    Started one = StartSleeper();
    killed.Add(std::move(one.pidfd));
    ::kill(one.pid, SIGKILL);
  }
  CHECK(ChildrenOf(::getpid()).empty());
}

TEST_CASE("KilledProcesses does not wait for ever for one that lives on",
          "[discovery][process]") {
  EventLoop loop;
  Started one = StartSleeper();
  const Instant begin = loop.Now();
  {
    KilledProcesses killed(loop);
    killed.Add(std::move(one.pidfd));
  }
  CHECK(loop.Now() - begin < 5s);
  Result<UniqueFd> pidfd = OpenPidfd(one.pid);
  REQUIRE(pidfd.ok());
  ::kill(one.pid, SIGKILL);
  CHECK(ReapPidfd(pidfd.value().get()) == ExitStatus{0, SIGKILL});
}

}  // namespace hvd
