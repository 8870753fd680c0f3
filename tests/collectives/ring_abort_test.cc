#include <catch2/catch.hpp>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "collectives/world_communicator.h"
#include "tests/collectives/ring_world.h"

namespace hvd {
namespace {

using namespace testing;

// Reduces until the end, which another thread of rank 0 brings about after
// `after` calls and a few turns more.
std::string ReduceUntilAborted(Communicator& c, int after, int turns) {
  std::atomic<int> calls{0};
  std::atomic<bool> ended{false};
  std::thread aborter;
  if (c.rank() == 0) {
    aborter = std::thread([&] {
      while (calls.load() < after && !ended.load()) std::this_thread::yield();
      for (int i = 0; i < turns; ++i) std::this_thread::yield();
      c.Abort({-1, ErrorCode::kCancelled, "aborted from outside"});
    });
  }
  std::vector<std::int64_t> data(3000, 1);
  std::string text;
  while (text.empty()) {
    const Status status = c.AllReduce(data.data(), data.data(), data.size(),
                                      DataType::kInt64, ReduceOp::kMax);
    if (!status.ok()) text = status.error().message();
    ++calls;
  }
  ended.store(true);
  if (aborter.joinable()) aborter.join();
  return text == "aborted from outside" ? "" : "ended with: " + text;
}

}  // namespace

TEST_CASE("Abort from another thread ends the call in progress on every rank",
          "[collectives]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    const int after = static_cast<int>(random() % 6);
    const int turns = static_cast<int>(random() % 30);
    const auto transport =
        random() % 2 == 0 ? Transport::kShared : Transport::kTcp;
    INFO("round " << round << " by " << ToString(transport));
    REQUIRE(RunThreads({.size = 2 + round % 3, .transport = transport},
                       [&](Communicator& c) {
                         return ReduceUntilAborted(c, after, turns);
                       }) == "");
  }
}

TEST_CASE("Of aborts on all ranks at once one wins everywhere",
          "[collectives]") {
  for (int round = 0; round < 50; ++round) {
    std::mutex mutex;
    std::set<std::string> texts;
    const auto body = [&](Communicator& c) -> std::string {
      Status status = c.Barrier();  // another rank may be faster than this
      if (status.ok()) {
        c.Abort({c.rank(), ErrorCode::kCancelled,
                 "rank " + std::to_string(c.rank()) + " is fed up"});
        status = c.Barrier();
      }
      if (status.ok()) return "no error";
      const std::lock_guard lock(mutex);
      texts.insert(status.error().message());
      return "";
    };
    CHECK(RunThreads({.size = 4}, body) == "");
    CHECK(texts.size() == 1);
  }
}

}  // namespace hvd
