#include "rendezvous/world_board.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace hvd {
namespace {

const WorkerId kA{"h", 0};
const WorkerId kB{"h", 1};
const WorkerId kC{"h", 2};
const Instant kStart{};

World WorldOf(std::uint64_t epoch, std::vector<WorkerId> workers) {
  return {Epoch{epoch}, std::move(workers)};
}

Endpoint At(std::uint16_t port) { return {"127.0.0.1", port, "", "k"}; }

// A board on which every request is waiter 1, 2, 3, ...
struct Board {
  WorldBoard::Arrival Ask(const WorkerId& worker, std::uint64_t after,
                          std::uint16_t port, Instant until = kStart + 30s) {
    return board.Ask(Waiter{++last}, {worker, Epoch{after}, At(port), until});
  }
  WorldBoard board;
  std::uint64_t last = 0;
};

std::vector<Release> Released(
    std::initializer_list<std::pair<std::uint64_t, WorldOutcome>> list) {
  std::vector<Release> releases;
  for (const auto& [waiter, outcome] : list) {
    releases.push_back({Waiter{waiter}, outcome});
  }
  return releases;
}

constexpr auto kComplete = WorldOutcome::kComplete;

}  // namespace

TEST_CASE("a world is handed out when its last member asks", "[rendezvous]") {
  Board t;
  CHECK(t.board.Publish(WorldOf(1, {kA, kB})).empty());
  CHECK(t.Ask(kB, 0, 20).releases.empty());
  CHECK_FALSE(t.board.complete());
  CHECK(t.Ask(kA, 0, 10).releases ==
        Released({{2, kComplete}, {1, kComplete}}));
  CHECK(t.board.endpoints() == std::vector<Endpoint>{At(10), At(20)});
}

TEST_CASE("a world is handed out on publishing when all have asked before",
          "[rendezvous]") {
  Board t;
  t.Ask(kA, 0, 10);
  t.Ask(kB, 0, 20);
  CHECK(t.board.Publish(WorldOf(1, {kA, kB})) ==
        Released({{1, kComplete}, {2, kComplete}}));
}

TEST_CASE("only the same question again is not the first", "[rendezvous]") {
  Board t;
  CHECK(t.Ask(kA, 0, 10).first_time);
  CHECK_FALSE(t.Ask(kA, 0, 10).first_time);
  CHECK(t.Ask(kA, 0, 11).first_time);  // a new process
  t.board.Publish(WorldOf(1, {kA}));
  CHECK(t.Ask(kA, 1, 11).first_time);
}

TEST_CASE("survivors and a newcomer meet in the next world", "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.Ask(kA, 0, 10);
  t.Ask(kB, 0, 20);
  CHECK(t.Ask(kC, 0, 30).releases.empty());  // not a member yet: it waits
  CHECK(t.Ask(kA, 1, 10).releases.empty());
  CHECK(t.board.Publish(WorldOf(2, {kA, kC})) ==
        Released({{4, kComplete}, {3, kComplete}}));
  CHECK(t.board.endpoints() == std::vector<Endpoint>{At(10), At(30)});
}

TEST_CASE("an endpoint of an earlier world is not handed out again",
          "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.Ask(kA, 0, 10);
  t.Ask(kB, 0, 20);
  t.board.Publish(WorldOf(2, {kA, kB}));
  CHECK(t.Ask(kA, 1, 10).releases.empty());
  CHECK(t.Ask(kB, 0, 21).releases ==
        Released({{3, kComplete}, {4, kComplete}}));
  CHECK(t.board.endpoints() == std::vector<Endpoint>{At(10), At(21)});
}

TEST_CASE("a worker that dies while it waits is not handed out",
          "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.Ask(kA, 0, 10);
  t.board.Leave(Waiter{1});
  CHECK(t.Ask(kB, 0, 20).releases.empty());
  CHECK(t.Ask(kA, 0, 11).releases ==
        Released({{3, kComplete}, {2, kComplete}}));
  CHECK(t.board.endpoints() == std::vector<Endpoint>{At(11), At(20)});
}

TEST_CASE("a restarted worker replaces its endpoint while the world waits",
          "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.Ask(kA, 0, 10);
  const auto again = t.Ask(kA, 0, 11);
  CHECK(again.first_time);
  CHECK(again.releases == Released({{1, WorldOutcome::kReplaced}}));
  t.Ask(kB, 0, 20);
  CHECK(t.board.endpoints() == std::vector<Endpoint>{At(11), At(20)});
}

TEST_CASE("a member whose answer was lost gets the world again",
          "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.Ask(kA, 0, 10);
  t.Ask(kB, 0, 20);
  const auto again = t.Ask(kA, 0, 10);
  CHECK_FALSE(again.first_time);
  CHECK(again.releases == Released({{3, kComplete}}));
}

TEST_CASE("a worker restarted after its world began waits for the next",
          "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.Ask(kA, 0, 10);
  t.Ask(kB, 0, 20);
  const auto again = t.Ask(kA, 0, 11);
  CHECK(again.first_time);
  CHECK(again.releases.empty());
  t.board.Publish(WorldOf(2, {kB, kA}));
  CHECK(t.Ask(kB, 1, 20).releases ==
        Released({{4, kComplete}, {3, kComplete}}));
}

TEST_CASE("a removed member is told so, waiting or later", "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.Ask(kA, 0, 10);
  t.Ask(kB, 0, 20);
  t.Ask(kA, 1, 10);
  CHECK(t.board.Publish(WorldOf(2, {kC})) ==
        Released({{3, WorldOutcome::kNotWanted}}));
  const auto late = t.Ask(kB, 1, 20);
  CHECK(late.releases == Released({{4, WorldOutcome::kNotWanted}}));
  CHECK_FALSE(late.first_time);
}

TEST_CASE("a member removed before its world began waits as a newcomer",
          "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.Ask(kA, 0, 10);
  CHECK(t.board.Publish(WorldOf(2, {kB})).empty());
  CHECK(t.Ask(kB, 0, 20).releases == Released({{2, kComplete}}));
  CHECK(t.board.Publish(WorldOf(3, {kA})) == Released({{1, kComplete}}));
}

TEST_CASE("a world that never was is refused", "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA}));
  const auto arrival = t.Ask(kA, 2, 10);
  CHECK(arrival.releases == Released({{1, WorldOutcome::kUnknownEpoch}}));
  CHECK_FALSE(arrival.first_time);
}

TEST_CASE("a wait ends at its time and may be taken up again", "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.Ask(kA, 0, 10, kStart + 30s);
  CHECK(t.board.Expire(kStart + 29s).empty());
  CHECK(t.board.Expire(kStart + 30s) == Released({{1, WorldOutcome::kAgain}}));
  CHECK(t.Ask(kB, 0, 20).releases.empty());  // kA is not there right now
  const auto again = t.Ask(kA, 0, 10);
  CHECK_FALSE(again.first_time);
  CHECK(again.releases.size() == 2);
}

TEST_CASE("leaving twice, or without having asked, changes nothing",
          "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.Ask(kA, 0, 10);
  t.board.Leave(Waiter{1});
  t.board.Leave(Waiter{1});
  t.board.Leave(Waiter{99});
  t.Ask(kB, 0, 20);
  CHECK(t.Ask(kA, 0, 10).releases.size() == 2);
}

TEST_CASE("whatever happens, a world goes out whole or not at all",
          "[rendezvous]") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::vector<WorkerId> all = {kA, kB, kC, {"i", 0}};
  for (int round = 0; round < 100; ++round) {
    Board t;
    std::map<WorkerId, std::pair<Waiter, std::uint16_t>> waiting;  // the model
    std::uint64_t epoch = 0;
    const auto check = [&](const std::vector<Release>& releases) {
      std::size_t complete = 0;
      for (const Release& release : releases) {
        if (release.outcome == kComplete) ++complete;
        std::erase_if(waiting, [&](const auto& entry) {
          if (entry.second.first != release.waiter) return false;
          if (release.outcome != kComplete) return true;
          // It is told the endpoint under which it asked.
          const auto& endpoints = t.board.endpoints();
          REQUIRE(std::count(endpoints.begin(), endpoints.end(),
                             At(entry.second.second)) == 1);
          return true;
        });
      }
      if (complete > 0) REQUIRE(t.board.complete());
    };
    for (int step = 0; step < 60; ++step) {
      const WorkerId& worker = all[random() % all.size()];
      const auto choice = random() % 8;
      if (choice == 0) {
        std::vector<WorkerId> members;
        for (const WorkerId& w : all) {
          if (random() % 4 != 0) members.push_back(w);
        }
        check(t.board.Publish(WorldOf(++epoch, members)));
      } else if (choice == 1 && waiting.contains(worker)) {
        t.board.Leave(waiting[worker].first);
        waiting.erase(worker);
      } else {
        const auto port = static_cast<std::uint16_t>(1000 + t.last);
        const std::uint64_t after = epoch == 0 ? 0 : random() % (epoch + 1);
        waiting[worker] = {Waiter{t.last + 1}, port};
        check(t.Ask(worker, after, port).releases);
      }
    }
  }
}

TEST_CASE("a world that lost a member is not handed out to its successor",
          "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.Ask(kA, 0, 1);
  t.board.Spoil(Epoch{1});
  CHECK(t.Ask(kB, 0, 2).releases.empty());  // the slot's next process
  CHECK(t.board.Publish(WorldOf(2, {kA, kB})) ==
        Released({{1, WorldOutcome::kComplete}, {2, WorldOutcome::kComplete}}));
}

TEST_CASE("a loss of an older world leaves the new one alone", "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.board.Publish(WorldOf(2, {kA}));
  t.board.Spoil(Epoch{1});
  CHECK(t.Ask(kA, 0, 1).releases ==
        std::vector<Release>{{Waiter{1}, WorldOutcome::kComplete}});
}

TEST_CASE("a worker at another address than its host's is told to move",
          "[rendezvous]") {
  Board t;
  CHECK(t.board.SetRingAddress("h", "10.0.0.1").empty());
  const auto told = t.Ask(kA, 0, 10);
  CHECK(told.releases == Released({{1, WorldOutcome::kWrongAddress}}));
  CHECK_FALSE(told.first_time);
  CHECK(t.board.RingAddressOf("h") == "10.0.0.1");
  CHECK(t.board.RingAddressOf("other").empty());

  const Endpoint right{"10.0.0.1", 10, "", "k"};
  const auto moved =
      t.board.Ask(Waiter{2}, {kA, Epoch{0}, right, kStart + 30s});
  CHECK(moved.releases.empty());
  CHECK(moved.first_time);
  CHECK(t.board.Publish(WorldOf(1, {kA})) == Released({{2, kComplete}}));
  CHECK(t.board.endpoints() == std::vector<Endpoint>{right});
}

TEST_CASE("a worker that waits is told to move when its host's address changes",
          "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB, {"i", 0}}));
  t.Ask(kA, 0, 10);
  t.Ask({"i", 0}, 0, 30);
  CHECK(t.board.SetRingAddress("h", "127.0.0.1").empty());
  CHECK(t.board.SetRingAddress("h", "10.0.0.1") ==
        Released({{1, WorldOutcome::kWrongAddress}}));
  // The world waits for it again.
  t.board.SetRingAddress("h", "127.0.0.1");
  CHECK(t.Ask(kB, 0, 20).releases.empty());
  CHECK(t.Ask(kA, 0, 10).releases ==
        Released({{4, kComplete}, {3, kComplete}, {2, kComplete}}));
}

TEST_CASE("a complete world is handed out again at the address it has",
          "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA}));
  t.Ask(kA, 0, 10);
  t.board.SetRingAddress("h", "10.0.0.1");
  CHECK(t.Ask(kA, 0, 10).releases == Released({{2, kComplete}}));
  CHECK(t.Ask(kA, 1, 10).releases ==
        Released({{3, WorldOutcome::kWrongAddress}}));
}

TEST_CASE("a worker that is not wanted is not told to move", "[rendezvous]") {
  Board t;
  t.board.Publish(WorldOf(1, {kA, kB}));
  t.board.Publish(WorldOf(2, {kA}));
  t.board.SetRingAddress("h", "10.0.0.1");
  CHECK(t.Ask(kB, 1, 20).releases == Released({{1, WorldOutcome::kNotWanted}}));
}

}  // namespace hvd
