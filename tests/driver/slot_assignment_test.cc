#include "driver/slot_assignment.h"

#include <catch2/catch.hpp>

namespace hvd {

TEST_CASE("AssignSlots fills hosts one after the other as listed",
          "[driver][unit]") {
  const auto places = AssignSlots({{"b", 2}, {"a", 1}}, 3);
  REQUIRE(places);
  CHECK(*places == std::vector<WorkerId>{{"b", 0}, {"b", 1}, {"a", 0}});
}

TEST_CASE("AssignSlots never sorts names", "[driver][unit]") {
  // pytorch#191190: rack10 and rack100 were put before rack9.
  const auto places = AssignSlots(
      {{"rack9", 1}, {"rack80", 1}, {"rack10", 1}, {"rack100", 1}}, 4);
  REQUIRE(places);
  CHECK(*places ==
        std::vector<WorkerId>{
            {"rack9", 0}, {"rack80", 0}, {"rack10", 0}, {"rack100", 0}});
}

TEST_CASE("AssignSlots takes exactly as many slots as workers",
          "[driver][unit]") {
  const auto places = AssignSlots({{"localhost", 8}, {"b", 8}}, 4);
  REQUIRE(places);
  CHECK(places->size() == 4);
  CHECK(places->back() == WorkerId{"localhost", 3});
}

TEST_CASE("AssignSlots gives nothing when slots are missing",
          "[driver][unit]") {
  CHECK_FALSE(AssignSlots({{"a", 2}, {"b", 1}}, 4));
  CHECK_FALSE(AssignSlots({}, 1));
}

}  // namespace hvd
