#include "driver/worker_registry.h"

#include <catch2/catch.hpp>

namespace hvd {
namespace {

// Three members: launches 1 to 3.
void AddThree(WorkerRegistry& registry) {
  std::vector<LaunchId> launches;
  for (const WorkerId& id :
       {WorkerId{"a", 0}, WorkerId{"a", 1}, WorkerId{"b", 0}}) {
    launches.push_back(registry.Add(id, 0).end.launch);
  }
  registry.SetMembers(launches);
}

bool All(const Worker&) { return true; }

}  // namespace

TEST_CASE("WorkerRegistry finds a worker by launch and by place",
          "[driver][unit]") {
  WorkerRegistry registry;
  AddThree(registry);
  REQUIRE(registry.Find(LaunchId{3}) != nullptr);
  CHECK(registry.Find(LaunchId{3})->end.worker == WorkerId{"b", 0});
  CHECK(registry.FindLive(WorkerId{"a", 1})->end.rank == 1);
  CHECK(registry.Find(LaunchId{4}) == nullptr);
  CHECK(registry.Find(LaunchId{0}) == nullptr);
  CHECK(registry.FindLive(WorkerId{"b", 1}) == nullptr);
}

TEST_CASE("WorkerRegistry never uses a launch number twice", "[driver][unit]") {
  WorkerRegistry registry;
  AddThree(registry);
  registry.Find(LaunchId{3})->end.status = ExitStatus{};
  registry.SetMembers({LaunchId{1}});
  CHECK(registry.Find(LaunchId{3}) == nullptr);
  CHECK(registry.Add({"b", 0}, 1).end.launch == LaunchId{4});
}

TEST_CASE("a member that is in the next world no more is a leaver",
          "[driver][unit]") {
  WorkerRegistry registry;
  AddThree(registry);
  registry.SetMembers({LaunchId{3}, LaunchId{1}});
  CHECK(registry.Find(LaunchId{2})->leaving);
  CHECK_FALSE(registry.Find(LaunchId{2})->IsSeated());
  CHECK(registry.Find(LaunchId{3})->end.rank == 0);
  CHECK(registry.Find(LaunchId{1})->end.rank == 1);
}

TEST_CASE("who has ended is remembered as long as it is a member",
          "[driver][unit]") {
  WorkerRegistry registry;
  AddThree(registry);
  registry.Find(LaunchId{2})->end.status = ExitStatus{1, 0};
  registry.ForgetEnded();
  REQUIRE(registry.Find(LaunchId{2}) != nullptr);
  CHECK(registry.FindLive({"a", 1}) == nullptr);
  registry.SetMembers({LaunchId{1}, LaunchId{3}});
  CHECK(registry.Find(LaunchId{2}) == nullptr);
}

TEST_CASE("a failed start counts as an end", "[driver][unit]") {
  WorkerRegistry registry;
  AddThree(registry);
  registry.Find(LaunchId{1})->end.start_error =
      Error{ErrorCode::kNotFound, "no such command"};
  registry.Find(LaunchId{2})->end.pid = 7;
  CHECK(registry.Ranks([](const Worker& w) { return w.HasEnded(); }) ==
        std::vector<int>{0});
  CHECK(registry.Ranks([](const Worker& w) { return w.IsRunning(); }) ==
        std::vector<int>{1});
}

TEST_CASE("a copy of a WorkerRegistry is its own", "[driver][unit]") {
  WorkerRegistry registry;
  AddThree(registry);
  WorkerRegistry copy(registry);
  copy.Find(LaunchId{1})->end.pid = 7;
  CHECK_FALSE(registry.Find(LaunchId{1})->end.pid);
  CHECK(copy.members().front()->end.pid == 7);
  CHECK(copy.All(All).size() == 3);
}

TEST_CASE("RankText joins neighbours", "[driver][unit]") {
  CHECK(RankText({3}) == "rank 3");
  CHECK(RankText({0, 1}) == "ranks 0-1");
  CHECK(RankText({0, 1, 2, 5, 7, 8}) == "ranks 0-2,5,7-8");
}

TEST_CASE("RankText stays a line when there are thousands of ranks",
          "[driver][unit]") {
  std::vector<int> odd;
  for (int rank = 1; rank < 4096; rank += 2) odd.push_back(rank);
  const std::string text = RankText(odd);
  CHECK(text.starts_with("ranks 1,3,5,"));
  CHECK(text.ends_with(",... (2048 ranks)"));
  CHECK(text.size() < 100);
}

}  // namespace hvd
