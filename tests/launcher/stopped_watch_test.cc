#include "launcher/stopped_watch.h"

#include <signal.h>

#include <catch2/catch.hpp>
#include <vector>

#include "tests/support/program.h"

using namespace std::chrono_literals;

namespace hvd {

TEST_CASE("a worker that is stopped for too long is told of once",
          "[launcher]") {
  EventLoop loop;
  std::vector<LaunchId> told;
  StoppedWatch watch(loop, 200ms, [&](LaunchId id) { told.push_back(id); });
  testing::Program runs({"sleep", "60"});
  testing::Program stopped({"sleep", "60"});
  watch.Add(LaunchId{1}, runs.pid());
  watch.Add(LaunchId{2}, stopped.pid());
  stopped.Signal(SIGSTOP);
  REQUIRE(loop.RunUntil([&] { return !told.empty(); }, 10s));
  CHECK(told == std::vector<LaunchId>{LaunchId{2}});
  // Once more only after it has gone on.
  loop.RunUntil([&] { return told.size() > 1; }, 500ms);
  CHECK(told.size() == 1);
  stopped.Signal(SIGCONT);
  loop.RunUntil([] { return false; }, 200ms);
  stopped.Signal(SIGSTOP);
  CHECK(loop.RunUntil([&] { return told.size() == 2; }, 10s));
}

TEST_CASE("a worker that is gone is not looked at", "[launcher]") {
  EventLoop loop;
  int told = 0;
  StoppedWatch watch(loop, 100ms, [&](LaunchId) { ++told; });
  testing::Program stopped({"sleep", "60"});
  stopped.Signal(SIGSTOP);
  watch.Add(LaunchId{1}, stopped.pid());
  watch.Remove(LaunchId{1});
  loop.RunUntil([&] { return told > 0; }, 400ms);
  CHECK(told == 0);
}

}  // namespace hvd
