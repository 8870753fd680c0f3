// Where everything of a job listens, and the interfaces that workers are told.
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>

#include "tests/e2e/elastic_ring.h"
#include "tests/support/free_ports.h"
#include "tests/support/listeners.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

constexpr const char* kTwoHosts = "localhost:1,127.0.0.2:1";

void CheckInside(const PortRange& range, pid_t pid) {
  for (const Listener& listener : ListenersOf(pid)) {
    INFO(pid << " listens on " << listener.address << " port "
             << listener.port);
    CHECK(listener.port >= range.first);
    CHECK(listener.port <= range.last);
  }
}

}  // namespace

TEST_CASE("everything of a job listens inside --port-range", "[e2e]") {
  const PortRange range = FreePorts(5, 26'000);
  Program hvdrun(
      Ring({"--port-range", ToString(range), "-H", kTwoHosts}, "60"));
  REQUIRE(hvdrun.WaitUntil([&] { return HasSteps(hvdrun.out(), 2, 3); }, 20s));
  CHECK(ListenersOf(hvdrun.pid()).size() == 1);
  CheckInside(range, hvdrun.pid());
  for (const int rank : {0, 1}) {
    const pid_t worker = PidOfRank(hvdrun.out(), rank).value();
    CHECK(ListenersOf(worker).size() == 1);
    CheckInside(range, worker);
  }
  const ProgramResult result = hvdrun.Wait(20s);
  INFO(result.err);
  CHECK(result.status.success());
}

TEST_CASE("a full --port-range ends hvdrun at once and is named", "[e2e]") {
  const PortRange range = FreePorts(5, 28'000);
  const auto taken = Occupy(range);
  REQUIRE(taken.size() == 5);
  const ProgramResult result =
      Hvdrun({"--port-range", ToString(range), "-np", "2", "true"});
  CHECK(result.status.code == 125);
  CHECK(result.took < 5s);
  CHECK(Contains(result.err, "no free port in " + ToString(range)));
  CHECK(Contains(result.err, "hvdrun: hint: --port-range"));
}

TEST_CASE("jobs one after another do not use a small --port-range up",
          "[e2e]") {
  const PortRange range = FreePorts(4, 30'000);
  for (int job = 0; job < 6; ++job) {
    const ProgramResult result =
        Hvdrun({"--port-range", ToString(range), "-H", kTwoHosts, Bin("ring"),
                "--steps", "3", "--rate", "0"});
    INFO(job << ": " << result.err);
    CHECK(result.status.ToShell() == 0);
  }
}

TEST_CASE("jobs at once share a --port-range without a clash", "[e2e]") {
  const PortRange range = FreePorts(30, 24'000);
  std::vector<std::unique_ptr<Program>> jobs;
  for (int job = 0; job < 6; ++job) {
    jobs.push_back(std::make_unique<Program>(
        HvdrunCommand({"--port-range", ToString(range), "-H", kTwoHosts,
                       Bin("ring"), "--steps", "5"})));
  }
  for (auto& job : jobs) {
    const ProgramResult result = job->Wait(40s);
    INFO(result.out << result.err);
    CHECK(result.status.ToShell() == 0);
    CHECK(Contains(result.out, "step=5 sum=15"));
  }
}

TEST_CASE("loopback by --network-interface is fine for one machine", "[e2e]") {
  const ProgramResult result =
      Hvdrun({"--network-interface", "lo", "-H", "localhost:2", "sh", "-c",
              "echo $NCCL_SOCKET_IFNAME $HOROVOD_GLOO_IFACE $MASTER_ADDR"});
  INFO(result.err);
  CHECK(result.status.ToShell() == 0);
  CHECK(Count(result.out, ":lo lo 127.0.0.1\n") == 2);
}

TEST_CASE("interfaces that are not here end hvdrun at once", "[e2e]") {
  const ProgramResult result = Hvdrun(
      {"--network-interfaces", "nic7,nic8", "-H", "localhost:2", "true"});
  CHECK(result.status.code == 125);
  CHECK(Contains(result.err,
                 "hvdrun: error: --network-interfaces nic7, nic8: host "
                 "localhost has no such interface; it has lo"));
}

TEST_CASE("an interface of the user's that is not here is told and kept",
          "[e2e]") {
  ProgramOptions options;
  options.env = {{"NCCL_SOCKET_IFNAME", "nic7"}};
  const ProgramResult wrong = Hvdrun(
      {"-H", "localhost:2", "sh", "-c", "echo $NCCL_SOCKET_IFNAME"}, options);
  CHECK(wrong.status.ToShell() == 0);
  CHECK(Count(wrong.out, ":nic7\n") == 2);
  CHECK(Count(wrong.err,
              "hvdrun: note: NCCL_SOCKET_IFNAME=nic7 matches no interface of "
              "host localhost, which has lo") == 1);
  options.env = {{"NCCL_SOCKET_IFNAME", "=lo"}};
  const ProgramResult right = Hvdrun(
      {"-H", "localhost:2", "sh", "-c", "echo $NCCL_SOCKET_IFNAME"}, options);
  CHECK(Count(right.out, ":=lo\n") == 2);
  CHECK_FALSE(Contains(right.err, "interface"));
}

}  // namespace hvd::testing
