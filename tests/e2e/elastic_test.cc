// Elastic jobs on the real hvdrun: workers and hosts come and go, and training
// goes on in the same processes.
#include <signal.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/e2e/elastic_ring.h"
#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

// As a script writes it: whole or not at all.
void ListHosts(const std::string& file, const std::string& text) {
  std::ofstream(file + ".new") << text;
  std::filesystem::rename(file + ".new", file);
}

}  // namespace

TEST_CASE("a worker killed on a one-host job is started again", "[e2e]") {
  // Horovod ends such a job.
  const ScopedMark mark;
  Program job(Ring({"-np", "3", "--min-np", "2"}, "40"), Marked(mark));
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 3, 5); }, 20s));
  const auto killed = PidOfRank(job.out(), 1);
  REQUIRE(killed);
  REQUIRE(::kill(*killed, SIGKILL) == 0);
  const ProgramResult result = job.Wait(30s);
  INFO(result.err << result.out);
  CHECK(result.status.success());
  CHECK(Contains(result.err, "rank 1 on localhost was killed by SIGKILL"));
  CHECK(Contains(result.out, StepLine(2, 3, 40)));
  CheckAllSteps(result.out, 40);
  // Two of the first three lived on: four pids in all.
  CHECK(Count(result.out, "<stdout>:pid=") == 4);
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("a job grows and shrinks with the list of its hosts", "[e2e]") {
  const ScopedMark mark;
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/hosts";
  ListHosts(file, "localhost:2\n");
  Program job(Ring({"-np", "2", "--min-np", "1", "--watch-hosts", file}, "120"),
              Marked(mark));
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 2, 5); }, 20s));
  ListHosts(file, "localhost:2\n127.0.0.2:1\n");
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 3, 5); }, 20s));
  ListHosts(file, "localhost:1\n127.0.0.2:1\n");
  REQUIRE(job.WaitUntil(
      [&] {
        return *StepsAtSize(job.out(), 2).rbegin() >
               *StepsAtSize(job.out(), 3).rbegin();
      },
      20s));
  const ProgramResult result = job.Wait(30s);
  INFO(result.err << result.out);
  CHECK(result.status.success());
  CheckAllSteps(result.out, 120);
  CHECK(Contains(result.err, "localhost/1 is not listed any more"));
  // Nobody was started but the three.
  CHECK(Count(result.out, "<stdout>:pid=") == 3);
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("a newcomer that is taken off the list again ends without a word",
          "[e2e]") {
  const ScopedMark mark;
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/hosts";
  ListHosts(file, "localhost:2\n");
  Program job(Ring({"-np", "2", "--watch-hosts", file}, "40"), Marked(mark));
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 2, 5); }, 20s));
  const auto survivor = PidOfRank(job.out(), 1);
  REQUIRE(survivor);
  // So that the newcomer's first world does not form.
  REQUIRE(::kill(*survivor, SIGSTOP) == 0);
  ListHosts(file, "localhost:2\n127.0.0.2:1\n");
  REQUIRE(
      job.WaitUntil([&] { return Contains(job.err(), "epoch 2: 3 "); }, 20s));
  ListHosts(file, "localhost:2\n");
  REQUIRE(
      job.WaitUntil([&] { return Contains(job.err(), "epoch 3: 2 "); }, 20s));
  REQUIRE(::kill(*survivor, SIGCONT) == 0);
  const ProgramResult result = job.Wait(30s);
  INFO(result.err << result.out);
  CHECK(result.status.success());
  CheckAllSteps(result.out, 40);
  CHECK(Contains(result.err,
                 "the newcomer 127.0.0.2/0 was taken off the list before its "
                 "first world: stopped"));
  CHECK_FALSE(Contains(result.out, "<stderr>"));
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("a worker that crashes at once ends its job with its own code",
          "[e2e]") {
  // pytorch #147064: restarted without end.
  const ProgramResult result =
      Hvdrun({"-np", "2", "--min-np", "1", "--blacklist-cooldown-range", "0.1",
              "0.2", "sh", "-c", "sleep 0.1; exit 9"});
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 9});
  CHECK(result.took < 10s);
  CHECK(Contains(LastLine(result.err), "no world was ever complete"));
}

TEST_CASE("a stopped worker is replaced after --worker-timeout", "[e2e]") {
  // Horovod waits for it for ever.
  const ScopedMark mark;
  Program job(Ring({"-np", "3", "--min-np", "2", "--collective-timeout", "1",
                    "--worker-timeout", "1", "--stop-grace-secs", "0.5"},
                   "40"),
              Marked(mark));
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 3, 5); }, 20s));
  const auto stopped = PidOfRank(job.out(), 2);
  REQUIRE(stopped);
  REQUIRE(::kill(*stopped, SIGSTOP) == 0);
  const ProgramResult result = job.Wait(30s);
  INFO(result.err << result.out);
  CHECK(result.status.success());
  CHECK(Contains(result.err, "(--worker-timeout)"));
  CheckAllSteps(result.out, 40);
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE(
    "a survivor that is busy outside a collective is named and waited for",
    "[e2e]") {
  const ScopedMark mark;
  const TemporaryDirectory directory;
  const std::string gate = directory / "gate";
  REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
  Program job(
      HvdrunCommand({"-np", "3", "--min-np", "2", "-H", "localhost:3",
                     "--worker-timeout", "1", "sh", "-c",
                     "echo pid=$$; exec " + E2eWorker() + " busy " + gate}),
      Marked(mark));
  REQUIRE(job.WaitForOutput("busy"));
  const auto killed = PidOfRank(job.out(), 2);
  REQUIRE(killed);
  REQUIRE(::kill(*killed, SIGKILL) == 0);
  REQUIRE(job.WaitUntil(
      [&] { return Contains(job.err(), "waiting for rank 1 to join"); }, 20s));
  CHECK(Contains(job.err(), "(rank 1 after "));
  CHECK(Contains(job.err(), " collectives of epoch 1, last heard of "));
  std::ofstream(gate) << "go\n";
  const ProgramResult result = job.Wait(30s);
  INFO(result.err << result.out);
  CHECK(result.status.success());
  // It was busy for five times --worker-timeout and was not replaced.
  CHECK_FALSE(Contains(result.err, "rank 1 on localhost"));
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("below the minimum a job waits, says so and ends in time", "[e2e]") {
  // flytekit PR#2631.
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/hosts";
  ListHosts(file, "localhost:1\n127.0.0.2:1\n");
  Program job(Ring({"-np", "2", "--min-np", "2", "--watch-hosts", file,
                    "--elastic-timeout", "1.5"},
                   "4000"));
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 2, 5); }, 20s));
  ListHosts(file, "localhost:1\n");
  const ProgramResult result = job.Wait(30s);
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 125});
  CHECK(Contains(LastLine(result.err), "(--elastic-timeout)"));
  CHECK(Contains(LastLine(result.err), "2 workers (--min-np)"));
}

TEST_CASE("a discovery script that fails at first ends the job at once",
          "[e2e]") {
  // Horovod PR#1849.
  const ProgramResult result = Hvdrun(
      {"-np", "2", "--host-discovery-script", "echo boom >&2; exit 3", "true"});
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 125});
  CHECK(result.took < 5s);
  CHECK(Contains(result.err, "boom"));
  CHECK(Contains(result.err, "exit status 3"));
}

}  // namespace hvd::testing
