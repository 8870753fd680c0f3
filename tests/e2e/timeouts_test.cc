// Time limits: --timeout, --start-timeout and --stop-grace-secs. Every one of
// them ends the job completely.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

// On TERM it works for `seconds`, writes a file and is done.
std::vector<std::string> SavesOnTerm(const std::string& grace,
                                     const std::string& seconds,
                                     const std::string& file) {
  return HvdrunCommand({"-np", "1", "--stop-grace-secs", grace, "sh", "-c",
                        "trap 'sleep " + seconds + "; touch " + file +
                            "; exit 0' TERM; echo up; "
                            "while :; do sleep 0.02; done"});
}

}  // namespace

TEST_CASE("hvdrun --timeout ends the job with 124 and leaves nothing behind",
          "[e2e]") {
  // Open MPI #9272.
  const ScopedMark mark;
  const ProgramResult result = Hvdrun(
      {"-np", "2", "--timeout", "0.5", "--stop-grace-secs", "0.5", "sh", "-c",
       "trap '' TERM; setsid sleep 600 & while :; do sleep 1; done"},
      Marked(mark));
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 124});
  CHECK(result.took >= 500ms);
  CHECK(result.took < 3s);
  CHECK(Contains(LastLine(result.err), "--timeout"));
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("hvdrun --timeout does nothing to a job that is done before",
          "[e2e]") {
  const ProgramResult result = Hvdrun({"-np", "2", "--timeout", "30", "true"});
  INFO(result.err);
  CHECK(result.status.success());
  CHECK(result.took < 5s);
}

TEST_CASE(
    "hvdrun --timeout counts from the start though workers end one by one",
    "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "3", "--timeout", "0.6", "sh", "-c",
              "[ $HVD_RANK = 2 ] && exec sleep 60; sleep 0.$HVD_RANK"});
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 124});
  CHECK(result.took < 2s);
}

TEST_CASE("hvdrun --start-timeout names the rank that did not join the others",
          "[e2e]") {
  // Open MPI #9272: the path where nobody looks does the same clean-up.
  const ScopedMark mark;
  const ProgramResult result = Hvdrun(
      {"-np", "2", "--start-timeout", "1", "--stop-grace-secs", "1", "sh", "-c",
       "[ $HVD_RANK = 1 ] && exec sleep 100; exec \"$0\"", Bin("ring")},
      Marked(mark));
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 125});
  CHECK(result.took < 4s);
  CHECK(Contains(LastLine(result.err), "rank 1"));
  CHECK(Contains(LastLine(result.err), "--start-timeout"));
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("hvdrun --start-timeout does not concern workers that never join",
          "[e2e]") {
  // A job without libhvd is judged by its exits alone.
  const ProgramResult result =
      Hvdrun({"-np", "2", "--start-timeout", "0.3", "sleep", "0.8"});
  INFO(result.err);
  CHECK(result.status.success());
}

TEST_CASE("a worker has all of --stop-grace-secs to save its work", "[e2e]") {
  // PyTorch #119856.
  TemporaryDirectory directory;
  const std::string file = directory / "checkpoint";
  Program program(SavesOnTerm("20", "1", file));
  REQUIRE(program.WaitForOutput("up"));
  program.Signal(SIGTERM);
  const ProgramResult result = program.Wait(10s);
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 143});
  CHECK(std::filesystem::exists(file));
  CHECK_FALSE(Contains(result.err, "SIGKILL"));
}

TEST_CASE("a worker that needs longer than its grace is said to be cut short",
          "[e2e]") {
  const ScopedMark mark;
  TemporaryDirectory directory;
  const std::string file = directory / "checkpoint";
  Program program(SavesOnTerm("0.5", "5", file), Marked(mark));
  REQUIRE(program.WaitForOutput("up"));
  program.Signal(SIGTERM);
  const ProgramResult result = program.Wait(4s);
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 143});
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(Contains(result.err, "rank 0"));
  CHECK(Contains(result.err, "SIGKILL"));
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("a stopped worker is woken to hear that it shall end", "[e2e]") {
  const ScopedMark mark;
  Program program(
      HvdrunCommand({"-np", "1", "--stop-grace-secs", "20", "bash", "-c",
                     "echo pid=$$; while :; do sleep 0.02; done"}),
      Marked(mark));
  REQUIRE(program.WaitForOutput("pid="));
  REQUIRE(program.WaitUntil(
      [&] { return PidOfRank(program.out(), 0).has_value(); }, 5s));
  const pid_t worker = *PidOfRank(program.out(), 0);
  REQUIRE(::kill(worker, SIGSTOP) == 0);
  REQUIRE(program.WaitUntil([&] { return ProcessState(worker) == 'T'; }, 5s));
  program.Signal(SIGTERM);
  CHECK(program.Wait(3s).status == ExitStatus{.code = 143});
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("hvdrun --stop-grace-secs 0 kills at once", "[e2e]") {
  const ScopedMark mark;
  Program program(
      HvdrunCommand({"-np", "2", "--stop-grace-secs", "0", "sh", "-c",
                     "trap '' TERM; echo up; "
                     "while :; do sleep 1; done"}),
      Marked(mark));
  REQUIRE(program.WaitForOutput("[0]<stdout>:up"));
  REQUIRE(program.WaitForOutput("[1]<stdout>:up"));
  program.Signal(SIGTERM);
  CHECK(program.Wait(2s).status == ExitStatus{.code = 143});
  CHECK(NoneLeft(mark.text(), 1s));
}

}  // namespace hvd::testing
