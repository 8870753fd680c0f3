#include "discovery/link_plan.h"

#include <catch2/catch.hpp>
#include <set>

namespace hvd {

TEST_CASE("every link of a ring is measured once, and no machine twice at once",
          "[discovery]") {
  for (std::size_t size = 2; size <= 33; ++size) {
    INFO(size << " machines");
    const auto rounds = PlanLinks(size);
    CHECK(rounds.size() == 2 + size % 2);
    std::set<std::size_t> links;
    for (const auto& round : rounds) {
      std::set<std::size_t> busy;
      for (const std::size_t link : round) {
        CHECK(links.insert(link).second);
        CHECK(busy.insert(link).second);
        CHECK(busy.insert((link + 1) % size).second);
      }
    }
    CHECK(links.size() == size);
    CHECK(*links.rbegin() == size - 1);
  }
}

TEST_CASE("a machine alone has no link", "[discovery]") {
  CHECK(PlanLinks(0).empty());
  CHECK(PlanLinks(1).empty());
}

}  // namespace hvd
