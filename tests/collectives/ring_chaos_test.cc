// Ranks that die or stand still at random moments of random operations.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/collectives/ring_world.h"
#include "tests/support/chance.h"

namespace hvd {
namespace {

using namespace testing;

constexpr Duration kPatient{30'000};
constexpr std::array kTransports{Transport::kShared, Transport::kTcp,
                                 Transport::kMixed, Transport::kUneven,
                                 Transport::kWoven};

using Seed = std::mt19937::result_type;

// For each kind of world; HVD_SOAK asks for 200 in all.
int Rounds() { return InSoak() ? 40 : 4; }

// The operations of a world, the same on all ranks: their kind and length are
// drawn from one seed. Elements are such that each result can be foretold.
class Operations {
 public:
  Operations(Communicator& c, Seed seed)
      : c_(c), size_(static_cast<std::size_t>(c.size())), random_(seed) {}

  // The next one. "wrong" names a result that is not what it should be.
  Status Next(std::string& wrong) {
    // Of all lengths: each way that an array may go has its turn.
    const std::size_t count = random_() % (std::size_t{1} << random_() % 18);
    const auto kind = random_() % 6;
    const int root = static_cast<int>(random_() % size_);
    in_.assign(count * size_, c_.rank());
    out_.assign(count * size_, -1);
    std::int32_t expected = c_.size() * (c_.size() - 1) / 2;
    std::size_t results = count;
    Status status = Done{};
    switch (kind) {
      case 0:
        status = c_.AllReduce(in_.data(), out_.data(), count, DataType::kInt32,
                              ReduceOp::kSum);
        break;
      case 1:
        status = c_.ReduceScatter(in_.data(), out_.data(), count,
                                  DataType::kInt32, ReduceOp::kSum);
        break;
      case 2:
        out_.assign(count, c_.rank());
        status = c_.Broadcast(out_.data(), count, DataType::kInt32, root);
        expected = root;
        break;
      case 3:
        status = c_.AllGather(in_.data(), out_.data(), Shares(count, c_.size()),
                              DataType::kInt32);
        expected = c_.size() - 1;  // the last part
        break;
      case 4: {
        const Shares each(count, c_.size());
        status =
            c_.AllToAll(in_.data(), each, out_.data(), each, DataType::kInt32);
        expected = c_.size() - 1;
        break;
      }
      default:
        results = 0;
        status = c_.Barrier();
    }
    if (!status.ok() || results == 0) return status;
    const std::size_t last = kind < 3 ? count - 1 : count * size_ - 1;
    if (out_[last] != expected) {
      wrong = "operation of kind " + std::to_string(kind) + ", count " +
              std::to_string(count) + ", gave " + std::to_string(out_[last]);
    }
    return status;
  }

 private:
  Communicator& c_;
  std::size_t size_;
  std::mt19937 random_;
  std::vector<std::int32_t> in_;
  std::vector<std::int32_t> out_;
};

// Until one fails; a wrong result ends this rank without a failure.
auto OperateUntilFailure(Seed seed) {
  return [seed](Communicator& c, Report& report) {
    Operations operations(c, seed);
    std::string wrong;
    while (operations.Next(wrong).ok()) {
      if (!wrong.empty()) {
        std::copy(wrong.begin(), wrong.end(), report.text.begin());
        return;
      }
      ++report.calls;
    }
    report.Fail(c);
  };
}

// Some operations on from here, and a moment.
void AwaitRandomMoment(ProcessWorld& world, std::mt19937& random) {
  REQUIRE(world.AwaitCalls(1 + static_cast<int>(random() % 40), kPatient));
  const Instant moment =
      SteadyClock().Now() + std::chrono::microseconds(random() % 3000);
  ProcessWorld::Await([&] { return SteadyClock().Now() >= moment; }, kPatient);
}

int RankOf(std::mt19937& random, int size) {
  return static_cast<int>(random() % static_cast<unsigned>(size));
}

}  // namespace

TEST_CASE("Whatever operation a rank dies in, every survivor names it",
          "[collectives]") {
  const Seed seed = ChooseSeed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const Transport transport : kTransports) {
    for (int round = 0; round < Rounds(); ++round) {
      const int size = 2 + RankOf(random, 5);
      const int victim = RankOf(random, size);
      INFO(ToString(transport) << ", round " << round << ", size " << size
                               << ", victim " << victim);
      ProcessWorld world(
          {.size = size, .transport = transport, .table = SmallTable()},
          OperateUntilFailure(random()));
      AwaitRandomMoment(world, random);
      world.Kill(victim, SIGKILL);
      REQUIRE(world.AwaitExits(victim, kPatient) == 0);
      CHECK(Disagreement(world, victim) == "");
      CHECK(world.report((victim + 1) % size).failed_rank == victim);
    }
  }
}

TEST_CASE("When two ranks die at once every survivor names one of them",
          "[collectives]") {
  const Seed seed = ChooseSeed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const Transport transport : kTransports) {
    for (int round = 0; round < Rounds(); ++round) {
      constexpr int kSize = 6;
      const int first = RankOf(random, kSize);
      const int second = (first + 1 + RankOf(random, kSize - 1)) % kSize;
      INFO(ToString(transport) << ", round " << round << ", victims " << first
                               << " and " << second);
      ProcessWorld world(
          {.size = kSize, .transport = transport, .table = SmallTable()},
          OperateUntilFailure(random()));
      AwaitRandomMoment(world, random);
      world.Kill(first, SIGKILL);
      world.Kill(second, SIGKILL);
      // They end as well: nobody is left.
      REQUIRE(world.AwaitExits(-1, kPatient) == 0);
      for (int rank = 0; rank < kSize; ++rank) {
        if (rank == first || rank == second) continue;
        const Report& report = world.report(rank);
        INFO("rank " << rank << ": " << report.text.data());
        CHECK(report.failed.load());
        CHECK((report.failed_rank == first || report.failed_rank == second));
      }
    }
  }
}

TEST_CASE("A rank that is stopped for a while and goes on disturbs no result",
          "[collectives]") {
  const Seed seed = ChooseSeed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const Transport transport : kTransports) {
    constexpr int kSize = 4;
    constexpr int kOperations = 300;
    const Seed operations_seed = random();
    ProcessWorld world(
        {.size = kSize, .transport = transport, .table = SmallTable()},
        [operations_seed](Communicator& c, Report& report) {
          Operations operations(c, operations_seed);
          std::string wrong;
          while (report.calls < kOperations) {
            const Status status = operations.Next(wrong);
            if (!status.ok()) return report.Fail(c);
            if (!wrong.empty()) return;
            ++report.calls;
          }
        });
    for (int round = 0; round < Rounds(); ++round) {
      const int victim = RankOf(random, kSize);
      world.Kill(victim, SIGSTOP);
      const Instant moment =
          SteadyClock().Now() + std::chrono::milliseconds(random() % 40);
      ProcessWorld::Await([&] { return SteadyClock().Now() >= moment; },
                          kPatient);
      world.Kill(victim, SIGCONT);
    }
    REQUIRE(world.AwaitExits(-1, kPatient) == 0);
    for (int rank = 0; rank < kSize; ++rank) {
      INFO(ToString(transport)
           << ", rank " << rank << ": " << world.report(rank).text.data());
      CHECK(world.report(rank).calls == kOperations);
    }
  }
}

}  // namespace hvd
