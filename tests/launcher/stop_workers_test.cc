#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <string>

#include "tests/launcher/worker_host.h"
#include "tests/support/processes.h"

using namespace std::chrono_literals;

namespace hvd {

using testing::NoneLeft;
using testing::ScopedMark;
using testing::WorkerHost;

namespace {

// Every process of a worker with this environment carries the mark.
EnvList Marked(const ScopedMark& mark) {
  EnvList env = WorkerHost::DefaultEnv();
  env.emplace_back("MARK", mark.text());
  return env;
}

std::chrono::milliseconds Took(WorkerHost& host, Instant begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      host.loop().Now() - begin);
}

}  // namespace

TEST_CASE("a signal reaches every process of a worker's session",
          "[launcher]") {
  WorkerHost host;
  // `set -m` puts the job into a process group of its own.
  const LaunchId id =
      host.Launch({"bash", "-c",
                   "set -m; sh -c 'trap \"echo inner; exit\" USR1; "
                   "cut -d\" \" -f5 /proc/$$/stat; echo ready; "
                   "while :; do sleep 0.05; done' & "
                   "trap 'echo outer' USR1; wait; wait; echo end"});
  REQUIRE(host.WaitForOutput(id, "ready"));
  const std::string own_group = std::to_string(host.WaitForStart(id)) + '\n';
  CHECK_FALSE(host.Output(id).starts_with(own_group));
  host.launcher().Signal(id, SIGUSR1);
  CHECK(host.WaitForExit(id).success());
  CHECK(host.Output(id).find("inner") != std::string::npos);
  CHECK(host.Output(id).find("outer") != std::string::npos);
}

TEST_CASE("a worker hears the signal that was sent, then TERM, then KILL",
          "[launcher]") {
  WorkerHost host;
  const LaunchId id = host.Shell(
      "trap 'echo INT' INT; trap 'echo TERM' TERM; echo ready; "
      "while :; do sleep 0.02; done");
  REQUIRE(host.WaitForOutput(id, "ready"));
  const Instant begin = host.loop().Now();
  host.launcher().Stop(id, SIGINT, 1s);
  CHECK(host.WaitForExit(id) == ExitStatus{0, SIGKILL});
  CHECK(Took(host, begin) >= 1s);
  CHECK(Took(host, begin) < 5s);
  CHECK(host.Output(id) == "ready\nINT\nTERM\n");
}

TEST_CASE("a worker that needs half of the grace ends by itself",
          "[launcher]") {
  WorkerHost host;
  const LaunchId id = host.Shell(
      "trap 'sleep 0.3; echo saved; exit 5' TERM; echo ready; "
      "while :; do sleep 0.02; done");
  REQUIRE(host.WaitForOutput(id, "ready"));
  host.launcher().Stop(id, SIGTERM, 20s);
  CHECK(host.WaitForExit(id) == ExitStatus{5, 0});
  CHECK(host.Output(id) == "ready\nsaved\n");
}

TEST_CASE("a second, impatient stop kills at once", "[launcher]") {
  WorkerHost host;
  const LaunchId id =
      host.Shell("trap '' INT TERM; echo ready; while :; do sleep 0.02; done");
  REQUIRE(host.WaitForOutput(id, "ready"));
  const Instant begin = host.loop().Now();
  host.launcher().Stop(id, SIGINT, 600s);
  host.launcher().Stop(id, SIGINT, 600s);
  host.launcher().Stop(id, SIGKILL, 600s);
  CHECK(host.WaitForExit(id) == ExitStatus{0, SIGKILL});
  CHECK(Took(host, begin) < 10s);
}

TEST_CASE("a stopped worker hears TERM within the grace", "[launcher]") {
  WorkerHost host;
  // Not dash: it starts commands by vfork, and one that waits for a stopped
  // child in there is in state D.
  const LaunchId id =
      host.Launch({"bash", "-c",
                   "trap 'echo saved; exit 0' TERM; echo ready; "
                   "while :; do sleep 0.02; done"});
  REQUIRE(host.WaitForOutput(id, "ready"));
  host.launcher().Signal(id, SIGSTOP);
  const pid_t pid = host.WaitForStart(id);
  REQUIRE(host.WaitUntil([&] { return testing::ProcessState(pid) == 'T'; }));
  host.launcher().Stop(id, SIGTERM, 20s);
  CHECK(host.WaitForExit(id).success());
  CHECK(host.Output(id) == "ready\nsaved\n");
}

TEST_CASE("stopping a worker right after its launch stops it", "[launcher]") {
  WorkerHost host;
  const LaunchId id = host.Launch({"sleep", "60"});
  host.launcher().Stop(id, SIGTERM, 10s);
  CHECK(host.WaitForExit(id) == ExitStatus{0, SIGTERM});
}

TEST_CASE("a wrapper's child gets the signal too", "[launcher]") {
  WorkerHost host;
  const ScopedMark mark;
  const LaunchId id = host.Shell("sleep 600 & echo ready; wait", Marked(mark));
  REQUIRE(host.WaitForOutput(id, "ready"));
  host.launcher().Stop(id, SIGINT, 2s);
  host.WaitForExit(id);
  host.StopLeftovers(2s);
  CHECK(NoneLeft(mark.text(), 0ms));
}

TEST_CASE("a worker's exit is told at once, whoever holds its pipes",
          "[launcher]") {
  WorkerHost host;
  const ScopedMark mark;
  const Instant begin = host.loop().Now();
  const LaunchId id = host.Shell("setsid sleep 600 & exit 4", Marked(mark));
  CHECK(host.WaitForExit(id) == ExitStatus{4, 0});
  CHECK(Took(host, begin) < 10s);
}

TEST_CASE("what an ended worker left in its session gets TERM, then KILL",
          "[launcher]") {
  WorkerHost host({.lifeline_grace = 300ms});
  const ScopedMark gentle;
  const ScopedMark deaf;
  host.WaitForExit(host.Shell("sleep 600 & exit 0", Marked(gentle)));
  host.WaitForExit(
      host.Shell("sh -c 'trap \"\" TERM; while :; do sleep 0.05; done' & "
                 "exit 0",
                 Marked(deaf)));
  CHECK(NoneLeft(gentle.text(), 5s));
  CHECK(NoneLeft(deaf.text(), 5s));
}

TEST_CASE("a daemon with a session of its own outlives its worker, not the job",
          "[launcher]") {
  WorkerHost host({.lifeline_grace = 100ms});
  const ScopedMark mark;
  const LaunchId id = host.Shell(
      "setsid sh -c 'echo ready; sleep 600' & wait $!", Marked(mark));
  REQUIRE(host.WaitForOutput(id, "ready"));
  host.launcher().Stop(id, SIGKILL, 0ms);
  host.WaitForExit(id);
  // Another worker comes and goes; by then the session of the first is swept.
  host.WaitForExit(host.Shell("sleep 0.3"));
  CHECK_FALSE(testing::ProcessesWith(mark.text()).empty());
  host.StopLeftovers(1s);
  CHECK(NoneLeft(mark.text(), 0ms));
}

TEST_CASE("StopLeftovers answers at once when nothing is left", "[launcher]") {
  WorkerHost host;
  host.WaitForExit(host.Shell("true"));
  CHECK(host.StopLeftovers(60s) < 2s);
  CHECK(host.StopLeftovers(60s) < 2s);
}

TEST_CASE("StopLeftovers ends those that ignore TERM, double-forked ones too",
          "[launcher]") {
  WorkerHost host;
  const ScopedMark mark;
  const LaunchId id = host.Shell(
      "for i in 1 2 3; do setsid sh -c '(trap \"\" TERM INT HUP; "
      "setsid sh -c \"trap \\\"\\\" TERM; while :; do sleep 0.05; done\" &) ; "
      "sleep 0.1' & done; wait; echo ready",
      Marked(mark));
  REQUIRE(host.WaitForOutput(id, "ready"));
  host.WaitForExit(id);
  REQUIRE_FALSE(testing::ProcessesWith(mark.text()).empty());
  const auto took = host.StopLeftovers(500ms);
  CHECK(took >= 500ms);
  CHECK(took < 10s);
  CHECK(NoneLeft(mark.text(), 0ms));
  CHECK(testing::ChildrenOf(host.launcher().keeper_pid()).empty());
}

TEST_CASE("StopLeftovers ends processes that keep starting others",
          "[launcher]") {
  WorkerHost host;
  const ScopedMark mark;
  // Four parents, each with a new session every few milliseconds.
  const LaunchId id = host.Shell(
      "for i in 1 2 3 4; do setsid sh -c 'trap \"\" TERM; "
      "while :; do setsid sleep 3 & sleep 0.005; done' & done; echo ready",
      Marked(mark));
  REQUIRE(host.WaitForOutput(id, "ready"));
  host.WaitForExit(id);
  CHECK(host.StopLeftovers(200ms) < 20s);
  CHECK(NoneLeft(mark.text(), 0ms));
}

TEST_CASE("a shorter grace cuts a StopLeftovers under way short",
          "[launcher]") {
  WorkerHost host;
  const ScopedMark mark;
  const LaunchId id = host.Shell(
      "setsid sh -c 'trap \"\" TERM; echo ready; while :; do sleep 0.05; done' "
      "& exec sleep 60",
      Marked(mark));
  REQUIRE(host.WaitForOutput(id, "ready"));
  host.launcher().Stop(id, SIGKILL, 0ms);
  host.WaitForExit(id);
  bool first_done = false;
  host.launcher().StopLeftovers(600s, [&] { first_done = true; });
  CHECK(host.StopLeftovers(0ms) < 10s);
  CHECK(host.WaitUntil([&] { return first_done; }));
  CHECK(NoneLeft(mark.text(), 0ms));
}

TEST_CASE("orphans that end leave no zombie behind", "[launcher]") {
  WorkerHost host;
  const LaunchId id = host.Shell(
      "for i in 1 2 3 4 5; do (setsid sleep 0.01 &) ; done; echo ready; "
      "exec sleep 60");
  const pid_t pid = host.WaitForStart(id);
  REQUIRE(host.WaitForOutput(id, "ready"));
  const auto only_worker = [&] {
    return testing::ChildrenOf(host.launcher().keeper_pid()) ==
           std::vector<pid_t>{pid};
  };
  CHECK(host.WaitUntil(only_worker));
  host.launcher().Stop(id, SIGTERM, 10s);
  CHECK(host.WaitForExit(id) == ExitStatus{0, SIGTERM});
}

}  // namespace hvd
