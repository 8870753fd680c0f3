#include "collectives/world_communicator.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/collectives/reference.h"
#include "tests/collectives/ring_world.h"

namespace hvd {
namespace {

using namespace testing;

const auto kTransports = {Transport::kShared, Transport::kTcp,
                          Transport::kMixed, Transport::kUneven,
                          Transport::kWoven};

std::string Said(const Status& status) {
  return status.ok() ? "" : status.error().message();
}

}  // namespace

TEST_CASE("All ranks get the same bits, and the same as the last time",
          "[collectives]") {
  for (const Transport transport : kTransports) {
    for (const std::size_t count : {3UL, 100UL, 10'007UL}) {
      std::mutex mutex;
      std::set<std::vector<float>> results;
      for (int round = 0; round < 3; ++round) {
        const auto body = [&](Communicator& c) -> std::string {
          std::vector<float> data = ArrayOf<float>(c.rank(), count);
          const Status s = c.AllReduce(data.data(), data.data(), count,
                                       DataType::kFloat32, ReduceOp::kAverage);
          const std::lock_guard lock(mutex);
          results.insert(std::move(data));
          return Said(s);
        };
        CHECK(RunThreads(
                  {.size = 5, .transport = transport, .table = SmallTable()},
                  body) == "");
      }
      CHECK(results.size() == 1);
    }
  }
}

TEST_CASE("Arrays in heaps are combined where they lie, with the same bits",
          "[collectives]") {
  for (const std::size_t count : {65UL, 2000UL, 50'001UL}) {
    for (int size = 2; size <= 5; ++size) {
      std::mutex mutex;
      std::set<std::vector<float>> results;
      const auto body = [&](Communicator& c, SharedHeap& heap) -> std::string {
        const std::vector<float> mine = ArrayOf<float>(c.rank(), count);
        const std::size_t bytes = count * sizeof(float);
        auto* const a = static_cast<float*>(heap.Allocate(bytes));
        auto* const b = static_cast<float*>(heap.Allocate(bytes));
        std::vector<float> elsewhere = mine;
        // In heaps, in and out of place; one rank's elsewhere; all elsewhere.
        for (const auto& [in, out] :
             {std::pair(a, a), std::pair(a, b),
              std::pair(c.rank() == 1 ? elsewhere.data() : a, b),
              std::pair(elsewhere.data(), elsewhere.data())}) {
          std::memcpy(in, mine.data(), bytes);
          const Status s =
              c.AllReduce(in, out, count, DataType::kFloat32, ReduceOp::kSum);
          if (!s.ok()) return Said(s);
          const std::lock_guard lock(mutex);
          results.insert(std::vector<float>(out, out + count));
        }
        return "";
      };
      CHECK(RunThreadsWithHeaps({.size = size,
                                 .table = SmallTable(),
                                 .heap_bytes = std::size_t{1} << 20U},
                                body) == "");
      CHECK(results.size() == 1);
    }
  }
}

TEST_CASE("16-bit floats are rounded once a host, not once a rank",
          "[collectives]") {
  // 2048 + 1 + 1: in f16, where 2048 has neighbours 2 apart, adding 1 twice
  // gets nowhere; in f32 the sum is 2050.
  const auto body = [](Communicator& c) -> std::string {
    Float16 value = ToFloat16(c.rank() == 0 ? 2048.0F : 1.0F);
    const Status s =
        c.AllReduce(&value, &value, 1, DataType::kFloat16, ReduceOp::kSum);
    if (!s.ok()) return Said(s);
    return ToFloat(value) == 2050.0F ? "" : std::to_string(ToFloat(value));
  };
  CHECK(RunThreads({.size = 3}, body) == "");
  CHECK(RunThreads({.size = 3, .transport = Transport::kTcp}, body) == "");
}

TEST_CASE("Ranks with other thresholds learn it", "[collectives]") {
  for (const Transport transport : {Transport::kShared, Transport::kTcp}) {
    const WorldOptions options{.size = 2, .transport = transport};
    std::vector<RingListener> listeners;
    std::vector<Endpoint> endpoints;
    for (int rank = 0; rank < 2; ++rank) {
      listeners.push_back(ListenAs(options, rank));
      endpoints.push_back(listeners.back().endpoint());
    }
    std::vector<std::string> said(2);
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        Selection table;
        table.doubling += rank;
        auto made =
            MakeCommunicator(MembershipOf(static_cast<int>(rank), endpoints),
                             kTestKey, listeners[rank],
                             {.collective_timeout = Duration{20'000},
                              .deadline = SteadyClock().Now() + kFormLimit,
                              .table = table});
        said[rank] =
            made.ok() ? Said(made.value()->Barrier()) : made.error().message();
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(said[0] == said[1]);
    CHECK(said[0].find("barrier with thresholds ") != std::string::npos);
  }
}

TEST_CASE("Ranks that expect other counts in an alltoall all learn which",
          "[collectives]") {
  for (const Transport transport : {Transport::kShared, Transport::kTcp}) {
    CHECK(RunThreads(
              {.size = 3, .transport = transport},
              [](Communicator& c) -> std::string {
                std::vector<std::int32_t> data(100);
                std::vector<std::size_t> received{1, 1, 1};
                if (c.rank() == 2) received[1] = 5;
                const Status s =
                    c.AllToAll(data.data(), Shares(1, 3), data.data() + 50,
                               Shares(received), DataType::kInt32);
                const std::string text =
                    "ranks disagree: in operation 1 (alltoall) rank 1 sends 1 "
                    "elements to rank 2, which expects 5";
                return Said(s) == text ? "" : "it says: " + Said(s);
              }) == "");
  }
}

}  // namespace hvd
