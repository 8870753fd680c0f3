// Hosts, agents and cables that fail: nothing is left, nothing hangs.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "tests/e2e/host_job.h"

using namespace std::chrono_literals;

namespace hvd::testing {
namespace {

constexpr auto kHostTimeout = 2s;
constexpr auto kGrace = 1s;
// What a job may take beyond those.
constexpr auto kSlack = 2s;

// A static job with one worker on a and two on each of b and c.
struct Job {
  Job() {
    std::vector<std::string> words = {"-np",
                                      "5",
                                      "-H",
                                      "a:1,b:2,c:2",
                                      "--host-timeout",
                                      "2",
                                      "--stop-grace-secs",
                                      "1"};
    for (const std::string& word : Idle(mark)) words.push_back(word);
    job.emplace(bed, words);
    for (int rank = 0; rank < 5; ++rank) {
      REQUIRE(job->Prints('[' + std::to_string(rank) + "]<stdout>:up"));
    }
    REQUIRE(job->WaitUntil([&] { return IdleWorkers(mark) == 5; }, 20s));
    begin = std::chrono::steady_clock::now();
  }

  void Shell(const std::string& host, const std::string& script) const {
    const ProgramResult done = bed.Run(host, {"sh", "-c", script});
    INFO(done.err);
    CHECK(done.status.ToShell() == 0);
  }
  // The pids of what runs on a host, by its words there.
  static std::string Pids(const std::string& words) {
    return "$(ps -e -o pid=,args= | grep '" + words +
           "' | grep -v grep | awk '{print $1}')";
  }
  std::chrono::milliseconds Took() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
  }
  // The job ends with the host's name, and all of it is gone.
  void EndsOver(const std::string& host, std::chrono::milliseconds within) {
    const ProgramResult result = job->Wait();
    INFO(result.err << "after " << Took().count() << " ms");
    CHECK(Took() < within);
    CHECK(result.status.ToShell() == 125);
    CHECK(Contains(LastLine(result.err), "host " + host + " is lost: "));
    CHECK(NoneLeft(mark.text(), within));
    CHECK(Took() < within + 1s);
  }

  const Bed bed{{"3"}};
  const ScopedMark mark;
  std::optional<HostJob> job;
  std::chrono::steady_clock::time_point begin;
};

}  // namespace

TEST_CASE("Killing hvdrun ends its workers on all hosts", "[testbed]") {
  Job t;
  t.Shell("a", "kill -9 " + Job::Pids("bin/hvdrun "));
  t.job->Wait();
  CHECK(NoneLeft(t.mark.text(), kGrace + kSlack));
  for (const char* host : {"a", "b", "c"}) {
    const ProgramResult left =
        t.bed.Run(host, {"sh", "-c", "ps -e -o args= | grep '[h]vdrun'"});
    CHECK(left.out.empty());
  }
}

TEST_CASE("Killing an agent ends its workers and the job", "[testbed]") {
  Job t;
  t.Shell("b", "kill -9 " + Job::Pids("[h]vdrun-agent"));
  t.EndsOver("b", kGrace + kSlack);
}

TEST_CASE("Killing a keeper on another host ends its workers and the job",
          "[testbed]") {
  Job t;
  t.Shell("b", "kill -9 " + Job::Pids("[h]vdrun-keeper"));
  t.EndsOver("b", kGrace + kSlack);
}

TEST_CASE("Killing the ssh of a host ends its workers and the job",
          "[testbed]") {
  Job t;
  t.Shell("a", "kill -9 " + Job::Pids("[s]sh .* b "));
  t.EndsOver("b", kGrace + kSlack);
}

TEST_CASE("A cable that is cut ends the job in time, and what was cut off",
          "[testbed]") {
  Job t;
  t.bed.Cut("c");
  t.EndsOver("c", kHostTimeout + kGrace + kSlack);
  t.bed.Mend("c");
}

TEST_CASE("A host that loses its power ends the job in time", "[testbed]") {
  Job t;
  t.bed.PowerOff("c");
  t.EndsOver("c", kHostTimeout + kGrace + kSlack);
}

TEST_CASE("A host that freezes ends the job in time, its workers when it thaws",
          "[testbed]") {
  Job t;
  t.bed.Freeze("c");
  const ProgramResult result = t.job->Wait();
  INFO(result.err);
  CHECK(t.Took() < kHostTimeout + kGrace + kSlack);
  CHECK(result.status.ToShell() == 125);
  CHECK(Contains(LastLine(result.err), "host c is lost: "));
  CHECK(IdleWorkers(t.mark) == 2);
  t.bed.Thaw("c");
  CHECK(NoneLeft(t.mark.text(), kHostTimeout + kGrace + kSlack));
}

TEST_CASE("A job that is stopped by its user for long loses no host",
          "[testbed]") {
  Job t;
  t.Shell("a", "kill -TSTP " + Job::Pids("[b]in/hvdrun "));
  const auto stopped = [&] {
    const ProgramResult states = t.bed.Run(
        "b", {"sh", "-c", "ps -e -o stat=,args= | grep -c '^T.*[s]leep 300'"});
    return states.out == "2\n";
  };
  REQUIRE(t.job->WaitUntil(stopped, 20s));
  // Longer than the host timeout.
  CHECK_FALSE(t.job->WaitUntil([&] { return !stopped(); }, 5s));
  t.Shell("a", "kill -CONT " + Job::Pids("[b]in/hvdrun "));
  CHECK(t.job->WaitUntil([&] { return !stopped(); }, 20s));
  CHECK_FALSE(t.job->WaitUntil([&] { return !t.job->running(); }, 4s));
  t.job->Signal(SIGTERM);
  CHECK(t.job->Wait().status.ToShell() == 143);
  CHECK(NoneLeft(t.mark.text(), 5s));
}

}  // namespace hvd::testing
