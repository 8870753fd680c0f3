#include "rendezvous/world.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace hvd {
namespace {

World WorldOfHosts(const std::vector<std::pair<std::string, int>>& hosts) {
  World world;
  world.epoch = Epoch{1};
  for (const auto& [host, slots] : hosts) {
    for (int slot = 0; slot < slots; ++slot) {
      world.workers.push_back({host, slot});
    }
  }
  return world;
}

struct Row {
  int local_rank, local_size, cross_rank, cross_size, host_index;
  bool operator==(const Row&) const = default;
};

std::vector<Row> Rows(const World& world) {
  std::vector<Row> rows;
  for (const Placement& p : Placements(world)) {
    rows.push_back(
        {p.local_rank, p.local_size, p.cross_rank, p.cross_size, p.host_index});
  }
  return rows;
}

}  // namespace

TEST_CASE("a worker's name is host and slot", "[rendezvous]") {
  CHECK(ToString(WorkerId{"node-3", 12}) == "node-3/12");
}

TEST_CASE("even hosts give Horovod's six numbers", "[rendezvous]") {
  CHECK(
      Rows(WorldOfHosts({{"a", 2}, {"b", 2}})) ==
      std::vector<Row>{
          {0, 2, 0, 2, 0}, {1, 2, 0, 2, 0}, {0, 2, 1, 2, 1}, {1, 2, 1, 2, 1}});
}

TEST_CASE("on uneven hosts cross_rank counts hosts with that local rank only",
          "[rendezvous]") {
  CHECK(Rows(WorldOfHosts({{"a", 2}, {"b", 3}, {"c", 1}})) ==
        std::vector<Row>{{0, 2, 0, 3, 0},
                         {1, 2, 0, 2, 0},
                         {0, 3, 1, 3, 1},
                         {1, 3, 1, 2, 1},
                         {2, 3, 0, 1, 1},
                         {0, 1, 2, 3, 2}});
}

TEST_CASE("a host's late ranks keep its place among the hosts",
          "[rendezvous]") {
  World world{Epoch{2}, {{"a", 0}, {"b", 0}, {"b", 1}, {"a", 1}}};
  CHECK(Rows(world) == std::vector<Row>{{0, 2, 0, 2, 0},
                                        {0, 2, 1, 2, 1},
                                        {1, 2, 1, 2, 1},
                                        {1, 2, 0, 2, 0}});
}

TEST_CASE("PlacementOf is one of Placements", "[rendezvous]") {
  const World world = WorldOfHosts({{"a", 2}, {"b", 1}});
  for (int rank = 0; rank < 3; ++rank) {
    const Placement p = PlacementOf(world, rank);
    CHECK(p == Placements(world)[static_cast<std::size_t>(rank)]);
    CHECK(p.rank == rank);
    CHECK(p.size == 3);
  }
}

TEST_CASE("in any world local and cross ranks number their groups from 0",
          "[rendezvous]") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    World world{Epoch{1}, {}};
    std::map<std::string, int> slots;
    const std::size_t size = 1 + random() % 40;
    for (std::size_t i = 0; i < size; ++i) {
      const std::string host = "h" + std::to_string(random() % 7);
      world.workers.push_back({host, slots[host]++});
    }
    std::set<std::pair<int, int>> local_seen;
    std::set<std::pair<int, int>> cross_seen;
    for (const Placement& p : Placements(world)) {
      REQUIRE((0 <= p.local_rank && p.local_rank < p.local_size));
      REQUIRE((0 <= p.cross_rank && p.cross_rank < p.cross_size));
      REQUIRE(p.local_size ==
              slots[world.workers[static_cast<std::size_t>(p.rank)].host]);
      REQUIRE(local_seen.emplace(p.host_index, p.local_rank).second);
      REQUIRE(cross_seen.emplace(p.local_rank, p.cross_rank).second);
    }
  }
}

}  // namespace hvd
