// A static job is one world of exactly -np workers: complete or not started.
// Which hosts are taken and refused is hosts_test.cc.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

// Runs `flags` with workers that each add a line to a file; the lines.
struct Run {
  ProgramResult result;
  std::vector<std::string> started;
};

Run RunAndRecord(std::vector<std::string> flags) {
  TemporaryDirectory directory;
  const std::string file = directory / "started";
  for (const char* word : {"sh", "-c"}) flags.emplace_back(word);
  flags.push_back(
      "echo \"$HVD_RANK/$HVD_SIZE $HOROVOD_LOCAL_RANK/$HOROVOD_LOCAL_SIZE "
      "$HOROVOD_CROSS_RANK/$HOROVOD_CROSS_SIZE $HOROVOD_HOSTNAME\" >> " +
      file);
  Run run{Hvdrun(std::move(flags)), {}};
  run.started = Lines(ReadFile(file));
  std::sort(run.started.begin(), run.started.end());
  return run;
}

}  // namespace

TEST_CASE("hvdrun gives the six numbers of every worker on uneven hosts",
          "[e2e]") {
  // Horovod #3949, #2583: no two workers share a host and a local rank.
  const Run run = RunAndRecord({"-np", "4", "-H", "localhost:1,127.0.0.2:3"});
  INFO(run.result.err);
  CHECK(run.result.status.success());
  CHECK(run.started == std::vector<std::string>{
                           "0/4 0/1 0/2 localhost", "1/4 0/3 1/2 127.0.0.2",
                           "2/4 1/3 0/1 127.0.0.2", "3/4 2/3 0/1 127.0.0.2"});
}

TEST_CASE("hvdrun names the hostfile to change when it has too few slots",
          "[e2e]") {
  TemporaryDirectory directory;
  const std::string file = directory.Write("hosts.txt", "localhost slots=3\n");
  const Run run = RunAndRecord({"-np", "4", "--hostfile", file});
  INFO(run.result.err);
  CHECK(run.result.status == ExitStatus{.code = 125});
  CHECK(run.started.empty());
  CHECK(Contains(run.result.err, "4"));
  CHECK(Contains(run.result.err, "3 slots"));
  CHECK(Contains(run.result.err, file));
}

TEST_CASE("hvdrun starts no worker of a world whose last host has no slot left",
          "[e2e]") {
  // All slots of the first host are there, and still none of them is used.
  const Run run = RunAndRecord({"-np", "9", "-H", "localhost:4,127.0.0.2:4"});
  INFO(run.result.err);
  CHECK(run.result.status == ExitStatus{.code = 125});
  CHECK(run.started.empty());
}

TEST_CASE("hvdrun starts no worker when a flag behind the hosts is wrong",
          "[e2e]") {
  const Run run = RunAndRecord({"-np", "2", "--report", "/no/such/dir/report"});
  INFO(run.result.err);
  CHECK(run.result.status == ExitStatus{.code = 125});
  CHECK(run.started.empty());
  CHECK(Contains(run.result.err, "/no/such/dir/report"));
}

TEST_CASE("hvdrun publishes the whole world before the first worker asks",
          "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "8", Bin("ring"), "--steps", "1", "--rate", "0"});
  INFO(result.err);
  CHECK(result.status.success());
  for (int rank = 0; rank < 8; ++rank) {
    const std::string text = std::to_string(rank);
    CHECK(Contains(result.out, "[" + text + "]<stdout>:rank=" + text +
                                   " size=8 step=1 sum=36 host=localhost\n"));
  }
}

TEST_CASE("hvdrun runs 20 jobs at once on one machine without cross-talk",
          "[e2e]") {
  // Horovod #3930: no fixed port, nothing to collide on.
  std::vector<std::unique_ptr<Program>> jobs;
  for (int i = 0; i < 20; ++i) {
    jobs.push_back(std::make_unique<Program>(HvdrunCommand(
        {"-np", "2", Bin("ring"), "--steps", "3", "--rate", "0"})));
  }
  for (const auto& job : jobs) {
    const ProgramResult result = job->Wait();
    INFO(result.err);
    CHECK(result.status.success());
    CHECK(Count(result.out, "size=2 step=3 sum=9 ") == 2);
  }
}

}  // namespace hvd::testing
