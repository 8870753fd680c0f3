#include "launcher/stop_sweep.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <ostream>
#include <vector>

#include "launcher/stop_ladder.h"

using namespace std::chrono_literals;

namespace hvd {

std::ostream& operator<<(std::ostream& out, const GroupSignal& signal) {
  return out << signal.group << ':' << signal.signo;
}

namespace {

constexpr Instant kStart{1000s};

ProcessInfo Alive(pid_t pid, pid_t group) {
  return {.pid = pid, .parent = 1, .group = group, .session = 5, .alive = true};
}

ProcessInfo Zombie(pid_t pid, pid_t group) {
  ProcessInfo process = Alive(pid, group);
  process.alive = false;
  return process;
}

using Signals = std::vector<GroupSignal>;

}  // namespace

TEST_CASE("StopSweep is done at once when nothing lives", "[launcher]") {
  StopSweep sweep(10s, kStart);
  CHECK(sweep.NextDeadline() == kStart);
  CHECK(sweep.On({}, kStart).empty());
  CHECK(sweep.done());
  CHECK(sweep.left() == 0);
}

TEST_CASE("StopSweep is not done before ended ones are reaped", "[launcher]") {
  // 7 was listed, forked 8, and ended before its state was read.
  StopSweep sweep(10s, kStart);
  CHECK(sweep.On({Zombie(7, 7)}, kStart).empty());
  CHECK_FALSE(sweep.done());
  const Instant again = sweep.NextDeadline();
  CHECK(again > kStart);
  CHECK(again < kStart + 100ms);
  CHECK(sweep.On({Alive(8, 7)}, again) == Signals{{7, SIGTERM}, {7, SIGCONT}});
  CHECK(sweep.On({}, again + 1ms).empty());
  CHECK(sweep.done());
}

TEST_CASE("StopSweep does not wait for ever for one that nobody reaps",
          "[launcher]") {
  StopSweep sweep(10s, kStart);
  Instant now = kStart;
  while (!sweep.done()) {
    (void)sweep.On({Zombie(7, 7)}, now);
    REQUIRE(now <= kStart + 2s);
    now = std::max(now, sweep.NextDeadline());
  }
  CHECK(sweep.left() == 0);
}

TEST_CASE("StopSweep sends TERM and CONT to each group once, then waits",
          "[launcher]") {
  StopSweep sweep(10s, kStart);
  CHECK(sweep.On({Alive(7, 7), Alive(8, 7), Alive(9, 9)}, kStart) ==
        Signals{{7, SIGTERM}, {7, SIGCONT}, {9, SIGTERM}, {9, SIGCONT}});
  CHECK(sweep.NextDeadline() == kStart + 10s);
  CHECK(sweep.On({Alive(7, 7), Alive(9, 9)}, kStart + 1s).empty());
  CHECK_FALSE(sweep.done());
  CHECK(sweep.On({}, kStart + 2s).empty());
  CHECK(sweep.done());
}

TEST_CASE("StopSweep sends TERM to a group that appears during the grace",
          "[launcher]") {
  StopSweep sweep(10s, kStart);
  (void)sweep.On({Alive(7, 7)}, kStart);
  CHECK(sweep.On({Alive(7, 7), Alive(20, 20)}, kStart + 1s) ==
        Signals{{20, SIGTERM}, {20, SIGCONT}});
}

TEST_CASE("StopSweep stops until no group is new, and kills then",
          "[launcher]") {
  StopSweep sweep(1s, kStart);
  (void)sweep.On({Alive(7, 7)}, kStart);
  const Instant end = kStart + 1s;
  CHECK(sweep.On({Alive(7, 7)}, end) == Signals{{7, SIGSTOP}});
  CHECK(sweep.NextDeadline() == end);
  // It had forked before it was stopped.
  CHECK(sweep.On({Alive(7, 7), Alive(8, 8)}, end) == Signals{{8, SIGSTOP}});
  CHECK(sweep.On({Alive(7, 7), Alive(8, 8)}, end) ==
        Signals{{7, SIGKILL}, {8, SIGKILL}});
  CHECK(sweep.NextDeadline() > end);
  CHECK(sweep.On({}, end + 10ms).empty());
  CHECK(sweep.done());
}

TEST_CASE("StopSweep without a grace sends no TERM", "[launcher]") {
  StopSweep sweep(0s, kStart);
  CHECK(sweep.On({Alive(7, 7)}, kStart) == Signals{{7, SIGSTOP}});
  CHECK(sweep.On({Alive(7, 7)}, kStart) == Signals{{7, SIGKILL}});
}

TEST_CASE("StopSweep gives up on what outlives KILL, and counts it",
          "[launcher]") {
  StopSweep sweep(0s, kStart);
  const std::vector<ProcessInfo> stuck{Alive(7, 7), Alive(8, 7)};
  Instant now = kStart;
  while (!sweep.done()) {
    (void)sweep.On(stuck, now);
    REQUIRE(now <= kStart + kKillPatience + 100ms);
    now = std::max(now, sweep.NextDeadline());
  }
  CHECK(now >= kStart + kKillPatience);
  CHECK(sweep.left() == 2);
}

TEST_CASE("StopSweep goes on for a minute against a bomb, not for ever",
          "[launcher]") {
  StopSweep sweep(0s, kStart);
  Instant now = kStart;
  pid_t next = 10;
  while (!sweep.done()) {
    (void)sweep.On({Alive(next, next)}, now);
    // A new group each second keeps it from giving up early.
    if (now < kStart + 120s) ++next;
    now += 1s;
    REQUIRE(now < kStart + 200s);
  }
  CHECK(now > kStart + 60s);
}

TEST_CASE("StopSweep can be told to kill earlier, not later", "[launcher]") {
  StopSweep sweep(10s, kStart);
  (void)sweep.On({Alive(7, 7)}, kStart);
  sweep.KillBy(kStart + 20s);
  CHECK(sweep.NextDeadline() == kStart + 10s);
  sweep.KillBy(kStart + 1s);
  CHECK(sweep.NextDeadline() == kStart + 1s);
  CHECK(sweep.On({Alive(7, 7)}, kStart + 1s) == Signals{{7, SIGSTOP}});
}

TEST_CASE("StopSweep never signals group 0 or 1", "[launcher]") {
  StopSweep sweep(0s, kStart);
  CHECK(sweep.On({Alive(7, 0), Alive(8, 1)}, kStart).empty());
}

}  // namespace hvd
