#include "launcher/stop_ladder.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace hvd {
namespace {

constexpr Instant kStart{1000s};

using Rungs = std::vector<std::pair<Duration, int>>;

// Every signal until the ladder gives up, with when it was due.
Rungs ClimbAll(StopLadder ladder) {
  Rungs rungs;
  Instant now = kStart;
  while (!ladder.gave_up(now)) {
    while (const auto signo = ladder.Next(now)) {
      rungs.emplace_back(std::chrono::duration_cast<Duration>(now - kStart),
                         *signo);
    }
    REQUIRE(ladder.NextDeadline() >= now);
    now = ladder.NextDeadline();
  }
  rungs.emplace_back(std::chrono::duration_cast<Duration>(now - kStart), 0);
  return rungs;
}

}  // namespace

TEST_CASE("StopLadder sends INT at once, TERM at half of the grace, then KILL",
          "[launcher]") {
  CHECK(ClimbAll(StopLadder(SIGINT, 10s, kStart)) ==
        Rungs{{0s, SIGINT}, {5s, SIGTERM}, {10s, SIGKILL}, {12s, 0}});
  CHECK(ClimbAll(StopLadder(SIGHUP, 3s, kStart)) ==
        Rungs{{0s, SIGHUP}, {1500ms, SIGTERM}, {3s, SIGKILL}, {5s, 0}});
}

TEST_CASE("StopLadder sends TERM only once when it begins with it",
          "[launcher]") {
  CHECK(ClimbAll(StopLadder(SIGTERM, 10s, kStart)) ==
        Rungs{{0s, SIGTERM}, {10s, SIGKILL}, {12s, 0}});
}

TEST_CASE("StopLadder sends nothing but KILL when it begins with it",
          "[launcher]") {
  CHECK(ClimbAll(StopLadder(SIGKILL, 10s, kStart)) ==
        Rungs{{0s, SIGKILL}, {2s, 0}});
}

TEST_CASE("StopLadder gives a grace that is odd in full", "[launcher]") {
  CHECK(ClimbAll(StopLadder(SIGINT, 3ms, kStart)) ==
        Rungs{{0ms, SIGINT}, {1ms, SIGTERM}, {3ms, SIGKILL}, {2003ms, 0}});
}

TEST_CASE("StopLadder climbs all rungs at once without a grace", "[launcher]") {
  CHECK(ClimbAll(StopLadder(SIGINT, 0s, kStart)) ==
        Rungs{{0s, SIGINT}, {0s, SIGTERM}, {0s, SIGKILL}, {2s, 0}});
}

TEST_CASE("StopLadder jumps to KILL when told to", "[launcher]") {
  StopLadder ladder(SIGINT, 10s, kStart);
  REQUIRE(ladder.Next(kStart) == SIGINT);
  ladder.JumpToKill(kStart + 150ms);
  CHECK(ladder.NextDeadline() == kStart + 150ms);
  CHECK(ladder.Next(kStart + 150ms) == SIGKILL);
  CHECK(ladder.Next(kStart + 150ms) == std::nullopt);
  CHECK_FALSE(ladder.gave_up(kStart + 2149ms));
  CHECK(ladder.gave_up(kStart + 2150ms));
}

TEST_CASE("StopLadder is not restarted by a third Ctrl-C", "[launcher]") {
  StopLadder ladder(SIGKILL, 10s, kStart);
  REQUIRE(ladder.Next(kStart) == SIGKILL);
  ladder.JumpToKill(kStart + 1s);
  CHECK(ladder.Next(kStart + 1s) == std::nullopt);
  CHECK(ladder.gave_up(kStart + 2s));
}

TEST_CASE("StopLadder skips no rung when hvdrun itself was stopped",
          "[launcher]") {
  StopLadder ladder(SIGINT, 10s, kStart);
  REQUIRE(ladder.Next(kStart) == SIGINT);
  const Instant later = kStart + 3600s;
  CHECK(ladder.Next(later) == SIGTERM);
  CHECK(ladder.Next(later) == std::nullopt);
  CHECK(ladder.NextDeadline() == later + 5s);
  CHECK(ladder.Next(later + 5s) == SIGKILL);
}

}  // namespace hvd
