#include "collectives/comm_queue.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "collectives/grouped_reduce.h"
#include "collectives/solo_communicator.h"
#include "tests/collectives/reference.h"
#include "tests/collectives/ring_world.h"

namespace hvd {
namespace {

using namespace testing;

std::string Said(const Status& status) {
  return status.ok() ? "" : status.error().message();
}

}  // namespace

TEST_CASE("Queued operations are done in the order they were issued",
          "[collectives]") {
  SoloCommunicator solo;
  std::vector<int> order;
  std::vector<std::shared_ptr<PendingCall>> calls;
  {
    CommQueue queue(solo);
    for (int i = 0; i < 100; ++i) {
      calls.push_back(queue.Issue([&order, i](Communicator& c) {
        order.push_back(i);
        return c.Barrier();
      }));
    }
    queue.Drain();
    CHECK(order.size() == 100);
    for (const auto& call : calls) {
      REQUIRE(call->WaitUntil(SteadyClock().Now() + kFormLimit));
    }
  }
  for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("A wait for a queued operation ends at its deadline",
          "[collectives]") {
  CHECK(RunThreads({.size = 2}, [](Communicator& c) -> std::string {
          CommQueue queue(c);
          float x = 1;
          const auto call = queue.Issue([&x](Communicator& comm) {
            return comm.AllReduce(&x, &x, 1, DataType::kFloat32,
                                  ReduceOp::kSum);
          });
          if (c.rank() == 0) {
            const std::string said = Said(call->Wait());
            return said + (x == 2 ? "" : "wrong sum");
          }
          // Not before rank 0 has issued its own, whenever that is.
          while (!call->WaitUntil(SteadyClock().Now() + Duration{1})) {
          }
          return call->done() && x == 2 ? "" : "not done";
        }) == "");
}

TEST_CASE("A dead world ends all queued operations with its error",
          "[collectives]") {
  CHECK(RunThreads({.size = 3}, [](Communicator& c) -> std::string {
          CommQueue queue(c);
          std::vector<float> data(1000);
          std::vector<std::shared_ptr<PendingCall>> calls;
          // Rank 2 does not come.
          for (int i = 0; i < 5 && c.rank() != 2; ++i) {
            calls.push_back(queue.Issue([&data](Communicator& comm) {
              return comm.AllReduce(data.data(), data.data(), data.size(),
                                    DataType::kFloat32, ReduceOp::kSum);
            }));
          }
          if (c.rank() == 2) {
            c.Abort({2, ErrorCode::kCancelled, "no more"});
            return Said(c.Barrier()) == "no more" ? "" : "not aborted";
          }
          for (const auto& call : calls) {
            const std::string said = Said(call->Wait());
            if (said != "no more") return "it says: " + said;
          }
          return "";
        }) == "");
}

TEST_CASE("Many small arrays go in two transfers at most", "[collectives]") {
  for (const Transport transport : {Transport::kShared, Transport::kTcp}) {
    CHECK(RunThreadsWithHeaps(
              {.size = 2,
               .transport = transport,
               .heap_bytes = std::size_t{8} << 20U},
              [](Communicator& c, SharedHeap& heap) -> std::string {
                constexpr std::size_t kArrays = 1000;
                constexpr std::size_t kCount = 256;  // 1 KiB
                std::vector<std::vector<float>> data;
                std::vector<Tensor> tensors;
                for (std::size_t i = 0; i < kArrays; ++i) {
                  data.push_back(ArrayOf<float>(
                      c.rank() + 10 * static_cast<int>(i), kCount));
                }
                for (auto& array : data) {
                  tensors.push_back({array.data(), array.data(), kCount});
                }
                GroupedReduce grouped(&heap);
                const Status s = grouped.AllReduce(
                    c, tensors, DataType::kFloat32, ReduceOp::kMax);
                if (!s.ok()) return Said(s);
                for (std::size_t i = 0; i < kArrays; ++i) {
                  for (std::size_t k = 0; k < kCount; k += 17) {
                    const int base = 10 * static_cast<int>(i);
                    const float expected =
                        std::max(ElementOf<float>(base, k),
                                 ElementOf<float>(base + 1, k));
                    if (data[i][k] != expected) return "a wrong element";
                  }
                }
                return c.ledger().TotalsOf(Call::kAllReduce).operations <= 2
                           ? ""
                           : "too many transfers";
              }) == "");
  }
}

TEST_CASE("Arrays of all lengths are grouped, long ones by themselves",
          "[collectives]") {
  CHECK(RunThreads({.size = 3}, [](Communicator& c) -> std::string {
          std::vector<std::vector<std::int64_t>> data;
          std::vector<Tensor> tensors;
          for (const std::size_t count :
               {3UL, 0UL, 100'000UL, 1UL, 60'000UL, 60'000UL, 60'000UL,
                60'000UL, 60'000UL, 7UL}) {
            data.push_back(ArrayOf<std::int64_t>(c.rank(), count));
          }
          for (auto& array : data) {
            tensors.push_back({array.data(), array.data(), array.size()});
          }
          GroupedReduce grouped(nullptr);
          const Status s =
              grouped.AllReduce(c, tensors, DataType::kInt64, ReduceOp::kSum);
          if (!s.ok()) return Said(s);
          for (const auto& array : data) {
            for (std::size_t i = 0; i < array.size(); i += 997) {
              if (array[i] !=
                  ReducedElement<std::int64_t>(3, i, ReduceOp::kSum)) {
                return "wrong sum";
              }
            }
          }
          return "";
        }) == "");
}

TEST_CASE("The ledger counts operations, bytes and time by kind",
          "[collectives]") {
  SoloCommunicator solo;
  std::vector<float> data(10);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(solo.AllReduce(data.data(), data.data(), 10, DataType::kFloat32,
                           ReduceOp::kSum)
                .ok());
  }
  REQUIRE(solo.Barrier().ok());
  const CallTotals reduced = solo.ledger().TotalsOf(Call::kAllReduce);
  CHECK(reduced.operations == 3);
  CHECK(reduced.bytes == 120);
  CHECK(reduced.longest.count() > 0);
  CHECK(reduced.time >= reduced.longest);
  CHECK(solo.ledger().TotalsOf(Call::kBarrier).operations == 1);
  CHECK(solo.ledger().TotalsOf(Call::kBroadcast).operations == 0);
}

}  // namespace hvd
