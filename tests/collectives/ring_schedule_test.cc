#include "collectives/ring_schedule.h"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

namespace hvd {

TEST_CASE("Chunks cover an array once, in order, and differ by one at most",
          "[collectives]") {
  for (int size = 1; size <= 16; ++size) {
    for (const std::size_t count : {0UL, 1UL, 3UL, 7UL, 15UL, 16UL, 65537UL}) {
      std::size_t next = 0;
      for (int i = 0; i < size; ++i) {
        const Chunk chunk = ChunkOf(count, size, i);
        CHECK(chunk.begin == next);
        CHECK(chunk.count - count / static_cast<std::size_t>(size) <= 1);
        next += chunk.count;
      }
      CHECK(next == count);
    }
  }
}

TEST_CASE("What a rank sends at a step its right neighbour receives then",
          "[collectives]") {
  for (int size = 2; size <= 16; ++size) {
    for (int step = 0; step < AllReduceSteps(size); ++step) {
      for (int rank = 0; rank < size; ++rank) {
        const int right = RightOf(rank, size);
        CHECK(AllReduceStep(rank, size, step).send ==
              AllReduceStep(right, size, step).receive);
      }
    }
  }
}

TEST_CASE("What a rank receives at a step it sends at the next",
          "[collectives]") {
  for (int size = 2; size <= 16; ++size) {
    for (int rank = 0; rank < size; ++rank) {
      CHECK(AllReduceStep(rank, size, 0).send == rank);
      for (int step = 0; step + 1 < AllReduceSteps(size); ++step) {
        CHECK(AllReduceStep(rank, size, step).receive ==
              AllReduceStep(rank, size, step + 1).send);
      }
    }
  }
}

TEST_CASE("An all-reduce by the schedule gives every rank every contribution",
          "[collectives]") {
  using Contributions = std::multiset<int>;
  for (int size = 2; size <= 16; ++size) {
    const auto n = static_cast<std::size_t>(size);
    std::vector<std::vector<Contributions>> held(n);
    for (std::size_t rank = 0; rank < n; ++rank) {
      held[rank].assign(n, Contributions{static_cast<int>(rank)});
    }
    for (int step = 0; step < AllReduceSteps(size); ++step) {
      const auto before = held;
      for (int rank = 0; rank < size; ++rank) {
        const RingStep plan = AllReduceStep(rank, size, step);
        const auto chunk = static_cast<std::size_t>(plan.receive);
        Contributions& mine = held[static_cast<std::size_t>(rank)][chunk];
        const Contributions& incoming =
            before[static_cast<std::size_t>(LeftOf(rank, size))][chunk];
        if (plan.on_receipt == OnReceipt::kStore) mine.clear();
        mine.insert(incoming.begin(), incoming.end());
        CHECK((plan.on_receipt == OnReceipt::kCombineLast) ==
              (step == size - 2));
      }
    }
    Contributions all;
    for (int rank = 0; rank < size; ++rank) all.insert(rank);
    for (const auto& chunks : held) {
      for (const Contributions& chunk : chunks) CHECK(chunk == all);
    }
  }
}

}  // namespace hvd
