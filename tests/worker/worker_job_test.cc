// libhvd as a user's program meets it: processes that link it, a rendezvous
// server as hvdrun runs it, and nothing of hvdrun besides.
#include <catch2/catch.hpp>
#include <csignal>
#include <set>
#include <string>

#include "tests/support/program.h"
#include "tests/worker/job.h"

namespace hvd {
namespace {

using namespace testing;

ProgramResult RunSolo(const std::string& scene) {
  return RunProgram({HVD_WORKER_PROBE, scene});
}

}  // namespace

TEST_CASE("Workers of one host join and compute together", "[worker]") {
  Job job(HVD_WORKER_PROBE, OneHost(4));
  auto programs = job.StartAll("collectives");
  for (int rank = 0; rank < 4; ++rank) {
    const ProgramResult result =
        programs[static_cast<std::size_t>(rank)]->Wait(kPatient);
    INFO(result.out << result.err);
    CHECK(result.status.success());
    const std::string r = std::to_string(rank);
    CHECK(result.out == "rank=" + r + " size=4 local=" + r +
                            "/4 cross=0/1 host=a epoch=1\n"
                            "average=1.5 word=42 last=3\n");
  }
}

TEST_CASE("Workers of two hosts compute over TCP", "[worker]") {
  Job job(HVD_WORKER_PROBE, {{"a", 0}, {"a", 1}, {"b", 0}});
  auto programs = job.StartAll("collectives");
  const ProgramResult last = programs[2]->Wait(kPatient);
  CHECK(last.out ==
        "rank=2 size=3 local=0/1 cross=1/2 host=b epoch=1\n"
        "average=1 word=42 last=2\n");
  CHECK(programs[0]->Wait(kPatient).status.success());
  CHECK(programs[1]->Wait(kPatient).status.success());
}

TEST_CASE("Uneven calls come to the same now and without waiting", "[worker]") {
  Job job(HVD_WORKER_PROBE, OneHost(3));
  for (auto& program : job.StartAll("uneven")) {
    const ProgramResult result = program->Wait(kPatient);
    INFO(result.out << result.err);
    CHECK(result.status.success());
    CHECK(result.out ==
          "011222\n011222\n011222\n011222\n"
          "hvd: allgather has 4 counts for a world of 3\n");
  }
}

TEST_CASE("A killed worker is a CommError with its rank in all others",
          "[worker]") {
  Job job(HVD_WORKER_PROBE, OneHost(3));
  auto programs = job.StartAll("death");
  for (const std::size_t rank : {0U, 2U}) {
    const ProgramResult result = programs[rank]->Wait(kPatient);
    CHECK(result.status.success());
    CHECK(result.out ==
          "failed rank=1: rank 1 died: its connections closed without a "
          "goodbye\nagain rank=1\n");
  }
  CHECK(programs[1]->Wait(kPatient).status.signal == SIGKILL);
}

TEST_CASE("hvdrun is told of a lost rank before the program is", "[worker]") {
  Job job(HVD_WORKER_PROBE, OneHost(3));
  auto programs = job.StartAll("death");
  REQUIRE(programs[0]->WaitForOutput("failed rank=1"));
  CHECK(job.blames().contains({{"a", 0}, 1}));
}

TEST_CASE("A rank that hvdrun reports as lost ends the others' collectives",
          "[worker]") {
  Job job(HVD_WORKER_PROBE, OneHost(3));
  auto programs = job.StartAll("busy");
  for (auto& program : programs) {
    REQUIRE(program->WaitForOutput("waiting"));
  }
  job.Notify({.lost_rank = 1,
              .text = "rank 1 is lost: its host does not answer",
              .silent = true});
  for (const std::size_t rank : {0U, 2U}) {
    const ProgramResult result = programs[rank]->Wait(kPatient);
    CHECK(result.out ==
          "waiting\nfailed rank=1: rank 1 is lost: its host does not answer\n");
  }
}

TEST_CASE("The job's key is not in a worker's environment after Init",
          "[worker]") {
  Job job(HVD_WORKER_PROBE, OneHost(1));
  CHECK(job.Start(0, "secret")->Wait(kPatient).out == "key gone\n");
}

TEST_CASE("A forked child may not communicate and leaves its parent's world be",
          "[worker]") {
  Job job(HVD_WORKER_PROBE, OneHost(2));
  auto programs = job.StartAll("fork");
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const ProgramResult result = programs[rank]->Wait(kPatient);
    INFO(result.out << result.err);
    CHECK(result.status.success());
    CHECK(result.out ==
          "child rank=" + std::to_string(rank) +
              ": hvd: only the process that called Init may communicate, this "
              "is a forked child of it\n"
              "child exited with 7, parent goes on\n");
  }
}

TEST_CASE("Lines and results reach hvdrun", "[worker]") {
  Job job(HVD_WORKER_PROBE, OneHost(2));
  auto programs = job.StartAll("report");
  for (auto& program : programs) {
    CHECK(program->Wait(kPatient).status.success());
  }
  // Each worker's line came before its result.
  CHECK(job.WaitForResult("a/0: result of rank 0"));
  CHECK(job.WaitForResult("a/1: result of rank 1"));
  CHECK(job.logs() ==
        std::set<std::string>{"a/0: line of rank 0", "a/1: line of rank 1"});
}

TEST_CASE("A worker ends promptly although hvdrun is gone", "[worker]") {
  Job job(HVD_WORKER_PROBE, OneHost(2));
  auto programs = job.StartAll("busy");
  for (auto& program : programs) {
    REQUIRE(program->WaitForOutput("waiting"));
  }
  job.StopServer();
  programs[1]->Signal(SIGKILL);
  const ProgramResult result = programs[0]->Wait(kPatient);
  CHECK(result.status.success());
  CHECK(result.took < std::chrono::seconds(10));
}

TEST_CASE("Init says what it tried, for how long, and which flag matters",
          "[worker]") {
  Job job(HVD_WORKER_PROBE, OneHost(2));
  job.env().start_timeout = Duration{300};
  const ProgramResult alone = job.Start(0, "identify")->Wait(kPatient);
  INFO(alone.out);
  CHECK(alone.status.code == 3);
  CHECK(alone.out.find("exception: hvd: join the job of hvdrun at 127.0.0.1 "
                       "port ") == 0);
  CHECK(alone.out.find("as worker a/0 within 5.3 s (--start-timeout") !=
        std::string::npos);
  job.StopServer();
  const ProgramResult nobody = job.Start(0, "identify")->Wait(kPatient);
  CHECK(nobody.status.code == 3);
  CHECK(nobody.out.find("(--start-timeout") != std::string::npos);
}

TEST_CASE("Without hvdrun a program is a world of one", "[worker]") {
  const ProgramResult result = RunSolo("collectives");
  CHECK(result.status.success());
  CHECK(result.out.find("rank=0 size=1 local=0/1 cross=0/1 host=") == 0);
  CHECK(result.out.find("average=0 word=42 last=0\n") != std::string::npos);
  CHECK(RunSolo("report").out == "line of rank 0\n");
}

TEST_CASE("Calls out of order and wrong arguments are refused in words",
          "[worker]") {
  CHECK(RunSolo("order").out ==
        "hvd: call Init before anything else, and nothing after Shutdown\n"
        "hvd: Init may not be called after Shutdown\n");
  CHECK(RunSolo("misuse").out ==
        "too large a result is refused\n"
        "hvd: broadcast: root must be 0 in a world of one, got 1\n");
}

}  // namespace hvd
