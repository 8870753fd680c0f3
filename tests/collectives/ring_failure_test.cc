#include <unistd.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "collectives/world_communicator.h"
#include "tests/collectives/ring_world.h"

namespace hvd {
namespace {

using namespace testing;

constexpr Duration kPatient{20'000};
// What is promised for one host, and what a busy test machine may add.
constexpr Duration kPromised{100};
constexpr Duration kBusyMachine{900};

// All-reduces for ever; says how many are done, and why it ended.
void ReduceUntilFailure(Communicator& c, Report& report) {
  std::vector<float> data(5000, 1.0F);
  while (c.AllReduce(data.data(), data.data(), data.size(), DataType::kFloat32,
                     ReduceOp::kMax)
             .ok()) {
    ++report.calls;
  }
  report.Fail(c);
}

std::int64_t LateMs(const Report& report, Instant since) {
  return std::chrono::duration_cast<Duration>(report.failed_at() - since)
      .count();
}

// The latest survivor's delay; checks that all name `victim` alike.
std::int64_t CheckSurvivors(ProcessWorld& world, int victim, Instant since) {
  CHECK(Disagreement(world, victim) == "");
  std::int64_t latest = 0;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (rank == victim) continue;
    CHECK(world.report(rank).failed_rank == victim);
    latest = std::max(latest, LateMs(world.report(rank), since));
  }
  return latest;
}

}  // namespace

TEST_CASE("A rank killed at a random moment is named alike by every survivor",
          "[collectives]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::vector<std::int64_t> delays;
  for (const Transport transport :
       {Transport::kShared, Transport::kTcp, Transport::kMixed}) {
    for (int round = 0; round < 8; ++round) {
      const int size = 2 + static_cast<int>(random() % 4);
      const int victim =
          static_cast<int>(random() % static_cast<unsigned>(size));
      INFO(ToString(transport) << ", size " << size << ", victim " << victim);
      ProcessWorld world({.size = size, .transport = transport},
                         ReduceUntilFailure);
      REQUIRE(world.AwaitCalls(1 + static_cast<int>(random() % 20), kPatient));
      const Instant moment =
          SteadyClock().Now() + std::chrono::microseconds(random() % 2000);
      ProcessWorld::Await([&] { return SteadyClock().Now() >= moment; },
                          kPatient);
      const Instant killed = SteadyClock().Now();
      world.Kill(victim, SIGKILL);
      REQUIRE(world.AwaitExits(victim, kPatient) == 0);
      delays.push_back(CheckSurvivors(world, victim, killed));
      CHECK(world.report((victim + 1) % size).failed_code ==
            static_cast<int>(ErrorCode::kUnavailable));
    }
  }
  std::sort(delays.begin(), delays.end());
  CHECK(delays[delays.size() / 2] <= kPromised.count());
  CHECK(delays.back() <= (kPromised + kBusyMachine).count());
}

TEST_CASE("A death is known to ranks that are busy in user code",
          "[collectives]") {
  for (const Transport transport : {Transport::kShared, Transport::kTcp}) {
    ProcessWorld world({.size = 5, .transport = transport}, [](Communicator& c,
                                                               Report& report) {
      ++report.calls;
      ProcessWorld::Await([&] { return c.failure() != nullptr; }, kPatient);
      report.Fail(c);
    });
    REQUIRE(world.AwaitCalls(1, kPatient));
    const Instant killed = SteadyClock().Now();
    world.Kill(2, SIGKILL);
    REQUIRE(world.AwaitExits(2, kPatient) == 0);
    CHECK(CheckSurvivors(world, 2, killed) <=
          (kPromised + kBusyMachine).count());
    CHECK(std::string(world.report(0).text.data()) ==
          "rank 2 died: its connections closed without a goodbye");
  }
}

TEST_CASE("A death is noticed although a forked child holds the connections",
          "[collectives]") {
  ProcessWorld world({.size = 3}, [](Communicator& c, Report& report) {
    if (c.rank() == 1) {
      const pid_t child = ::fork();
      if (child == 0) {
        // Lives for as long as its parent's descriptors are of interest.
        ::alarm(static_cast<unsigned>(kPatient.count() / 1000));
        ::pause();
        ::_exit(0);
      }
      report.failed_rank = child;
    }
    ReduceUntilFailure(c, report);
  });
  REQUIRE(world.AwaitCalls(3, kPatient));
  const pid_t child = world.report(1).failed_rank;
  const Instant killed = SteadyClock().Now();
  world.Kill(1, SIGKILL);
  CHECK(world.AwaitExits(1, kPatient) == 0);
  ::kill(child, SIGKILL);
  CHECK(CheckSurvivors(world, 1, killed) <= (kPromised + kBusyMachine).count());
}

TEST_CASE("A stopped rank is named silent by all within the timeout",
          "[collectives]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  constexpr Duration kTimeout{1000};
  for (const Transport transport :
       {Transport::kShared, Transport::kTcp, Transport::kMixed}) {
    for (int round = 0; round < 2; ++round) {
      const int size = 2 + static_cast<int>(random() % 4);
      const int victim =
          static_cast<int>(random() % static_cast<unsigned>(size));
      INFO(ToString(transport) << ", size " << size << ", victim " << victim);
      ProcessWorld world(
          {.size = size, .transport = transport, .timeout = kTimeout},
          ReduceUntilFailure);
      REQUIRE(world.AwaitCalls(1 + static_cast<int>(random() % 20), kPatient));
      const Instant stopped = SteadyClock().Now();
      world.Kill(victim, SIGSTOP);
      REQUIRE(world.AwaitExits(victim, kPatient) == 0);
      const std::int64_t late = CheckSurvivors(world, victim, stopped);
      CHECK(late >= kTimeout.count() - 10);
      CHECK(late <= (kTimeout + kBusyMachine).count());
      CHECK(world.report((victim + 1) % size).failed_code ==
            static_cast<int>(ErrorCode::kTimeout));
    }
  }
}

TEST_CASE("A rank that never enters is named with the operation it misses",
          "[collectives]") {
  ProcessWorld world({.size = 4, .timeout = Duration{500}}, [](Communicator& c,
                                                               Report& report) {
    (void)c.Barrier();
    if (c.rank() == 2) {
      ProcessWorld::Await([&] { return c.failure() != nullptr; }, kPatient);
    } else {
      float x = 0;
      (void)c.AllReduce(&x, &x, 1, DataType::kFloat32, ReduceOp::kSum);
    }
    report.Fail(c);
  });
  REQUIRE(world.AwaitExits(-1, kPatient) == 0);
  CHECK(Disagreement(world, -1) == "");
  CHECK(std::string(world.report(2).text.data()) ==
        "rank 2 has not entered operation 2 (allreduce f32 sum count=1) within "
        "0.5 s, --collective-timeout");
}

TEST_CASE("A rank that left in order is named by those who go on",
          "[collectives]") {
  for (const Transport transport : {Transport::kShared, Transport::kTcp}) {
    ProcessWorld world({.size = 4, .transport = transport},
                       [](Communicator& c, Report& report) {
                         for (int i = 0; i < 3; ++i) (void)c.Barrier();
                         if (c.rank() == 1) return;
                         ReduceUntilFailure(c, report);
                       });
    REQUIRE(world.AwaitExits(-1, kPatient) == 0);
    CHECK(Disagreement(world, 1) == "");
    CHECK(world.report(0).failed_rank == 1);
    CHECK(std::string(world.report(3).text.data()) ==
          "rank 1 has left after 3 operations");
  }
}

TEST_CASE("Ranks that finish and leave at their own pace disturb nobody",
          "[collectives]") {
  for (const Transport transport :
       {Transport::kShared, Transport::kTcp, Transport::kMixed}) {
    for (int round = 0; round < 20; ++round) {
      CHECK(RunThreads({.size = 4, .transport = transport},
                       [&](Communicator& c) -> std::string {
                         std::vector<double> data(1000, 1.0);
                         const Status last =
                             c.Broadcast(data.data(), data.size(),
                                         DataType::kFloat64, round % 4);
                         return last.ok() ? "" : last.error().message();
                       }) == "");
    }
  }
}

TEST_CASE("A dead communicator repeats its error at once for every call",
          "[collectives]") {
  CHECK(RunThreads({.size = 3}, [](Communicator& c) -> std::string {
          if (c.rank() == 0) {
            c.Abort({2, ErrorCode::kCancelled, "told to stop"});
          }
          int x = 0;
          std::vector<int> many(3);
          const auto says = [](const Status& s) {
            return s.ok() ? "no error" : s.error().message();
          };
          std::string first = says(c.Barrier());
          if (first != "told to stop") return "first call: " + first;
          if (says(c.AllReduce(&x, &x, 1, DataType::kInt32, ReduceOp::kSum)) !=
                  first ||
              says(c.Broadcast(&x, 1, DataType::kInt32, 0)) != first ||
              says(c.AllGather(&x, many.data(), {1, 3}, DataType::kInt32)) !=
                  first ||
              says(c.Barrier()) != first) {
            return "a later call said something else";
          }
          c.Abort({1, ErrorCode::kInternal, "too late"});
          return c.failure()->rank == 2 ? "" : "a later failure won";
        }) == "");
}

}  // namespace hvd
