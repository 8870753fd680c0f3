#include "driver/worker_registry.h"

#include <catch2/catch.hpp>

namespace hvd {
namespace {

const World kWorld{Epoch{1}, {{"a", 0}, {"a", 1}, {"b", 0}}};

}  // namespace

TEST_CASE("WorkerRegistry finds a worker by launch and by place",
          "[driver][unit]") {
  WorkerRegistry registry;
  registry.Reset(kWorld);
  REQUIRE(registry.Find(LaunchId{3}) != nullptr);
  CHECK(registry.Find(LaunchId{3})->worker == WorkerId{"b", 0});
  CHECK(registry.Find(WorkerId{"a", 1})->rank == 1);
  CHECK(registry.Find(LaunchId{4}) == nullptr);
  CHECK(registry.Find(LaunchId{0}) == nullptr);
  CHECK(registry.Find(WorkerId{"b", 1}) == nullptr);
}

TEST_CASE("WorkerRegistry never uses a launch number twice", "[driver][unit]") {
  WorkerRegistry registry;
  registry.Reset(kWorld);
  registry.Reset({Epoch{2}, {{"a", 0}}});
  CHECK(registry.Find(LaunchId{1}) == nullptr);
  REQUIRE(registry.Find(LaunchId{4}) != nullptr);
  CHECK(registry.Find(LaunchId{4})->rank == 0);
}

TEST_CASE("WorkerRegistry counts a failed start as an end", "[driver][unit]") {
  WorkerRegistry registry;
  registry.Reset({Epoch{1}, {{"a", 0}, {"a", 1}}});
  registry.Find(LaunchId{1})->start_error =
      Error{ErrorCode::kNotFound, "no such command"};
  CHECK_FALSE(registry.AllEnded());
  registry.Find(LaunchId{2})->pid = 7;
  CHECK(registry.Ranks(WorkerRegistry::IsRunning) == std::vector<int>{1});
  registry.Find(LaunchId{2})->status = ExitStatus{};
  CHECK(registry.AllEnded());
  CHECK_FALSE(registry.AllStarted());
}

TEST_CASE("RankText joins neighbours", "[driver][unit]") {
  CHECK(RankText({3}) == "rank 3");
  CHECK(RankText({0, 1}) == "ranks 0-1");
  CHECK(RankText({0, 1, 2, 5, 7, 8}) == "ranks 0-2,5,7-8");
}

}  // namespace hvd
