#include "base/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>

#include "base/process.h"
#include "tests/support/processes.h"
#include "tests/support/subreaper.h"

namespace hvd {

using testing::ChildrenOf;
using testing::ProcessesWith;
using testing::ScopedMark;
using testing::Subreaper;

namespace {

pid_t StartShell(const ScopedMark& mark, const std::string& script,
                 const std::string& flags = "-c") {
  // bash -m misses a terminal, and says so.
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const Result<pid_t> pid =
      Spawn({.program = "/bin/bash",
             .argv = {"bash", flags, script},
             .env = {{"PATH", "/usr/bin:/bin"}, {"MARK", mark.text()}},
             .cwd = "",
             .stderr_fd = null.get()});
  REQUIRE(pid.ok());
  return pid.value();
}

// True once as many processes with the mark live; looks again and again.
bool AreThere(const ScopedMark& mark, std::size_t count) {
  for (int look = 0; look < 500; ++look) {
    if (ProcessesWith(mark.text()).size() == count) return true;
    ::poll(nullptr, 0, 10);
  }
  return false;
}

bool HasEnded(const UniqueFd& pidfd) {
  pollfd ended{pidfd.get(), POLLIN, 0};
  return ::poll(&ended, 1, 5000) == 1;
}

ExitStatus ReapLeader(pid_t leader) {
  int status = 0;
  CHECK(::waitpid(leader, &status, 0) == leader);
  return ExitStatusFromWait(status);
}

}  // namespace

TEST_CASE("KillSession kills the leader and all that it started", "[base]") {
  const Subreaper subreaper;
  const ScopedMark mark;
  const std::string flags = GENERATE("-c", "-mc");  // -m: a group a job
  // A shell would reap its children; tail does not.
  const pid_t leader = StartShell(
      mark, "tail -f /dev/null & tail -f /dev/null & exec tail -f /dev/null",
      flags);
  REQUIRE(AreThere(mark, 3));
  const std::vector<UniqueFd> others = KillSession(leader);
  CHECK(others.size() == 2);
  CHECK(ReapLeader(leader) == ExitStatus{0, SIGKILL});
  for (const UniqueFd& other : others) {
    REQUIRE(HasEnded(other));
    CHECK(ReapPidfd(other.get()) == ExitStatus{0, SIGKILL});
  }
  CHECK(ProcessesWith(mark.text()).empty());
  CHECK(ChildrenOf(::getpid()).empty());
}

TEST_CASE("KillSession finds what an ended leader has left", "[base]") {
  const Subreaper subreaper;
  const ScopedMark mark;
  const pid_t leader = StartShell(mark, "tail -f /dev/null & exit 3");
  const Result<UniqueFd> pidfd = OpenPidfd(leader);
  REQUIRE(pidfd.ok());
  REQUIRE(HasEnded(pidfd.value()));
  const std::vector<UniqueFd> others = KillSession(leader);
  REQUIRE(others.size() == 1);
  CHECK(ReapLeader(leader) == ExitStatus{3, 0});
  REQUIRE(HasEnded(others[0]));
  CHECK(ReapPidfd(others[0].get()) == ExitStatus{0, SIGKILL});
}

TEST_CASE("KillSession leaves other sessions alone", "[base]") {
  const ScopedMark mark;
  const ScopedMark other_mark;
  const pid_t leader = StartShell(mark, "exec tail -f /dev/null");
  const pid_t other = StartShell(other_mark, "exec tail -f /dev/null");
  CHECK(KillSession(leader).empty());
  CHECK(ReapLeader(leader) == ExitStatus{0, SIGKILL});
  CHECK(AreThere(other_mark, 1));
  CHECK(KillSession(other).empty());
  CHECK(ReapLeader(other) == ExitStatus{0, SIGKILL});
}

}  // namespace hvd
