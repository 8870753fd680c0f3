#include "driver/slot_assignment.h"

#include <catch2/catch.hpp>

namespace hvd {
namespace {

bool Any(const WorkerId&) { return true; }

}  // namespace

TEST_CASE("AssignSlots fills hosts one after the other as listed",
          "[driver][unit]") {
  CHECK(AssignSlots({{"b", 2}, {"a", 1}}, 3, Any) ==
        std::vector<WorkerId>{{"b", 0}, {"b", 1}, {"a", 0}});
}

TEST_CASE("AssignSlots never sorts names", "[driver][unit]") {
  // pytorch#191190: rack10 and rack100 were put before rack9.
  CHECK(
      AssignSlots({{"rack9", 1}, {"rack80", 1}, {"rack10", 1}, {"rack100", 1}},
                  4, Any) ==
      std::vector<WorkerId>{
          {"rack9", 0}, {"rack80", 0}, {"rack10", 0}, {"rack100", 0}});
}

TEST_CASE("AssignSlots takes no more slots than asked for", "[driver][unit]") {
  const auto places = AssignSlots({{"localhost", 8}, {"b", 8}}, 4, Any);
  REQUIRE(places.size() == 4);
  CHECK(places.back() == WorkerId{"localhost", 3});
}

TEST_CASE("AssignSlots gives what there is when slots are missing",
          "[driver][unit]") {
  CHECK(AssignSlots({{"a", 2}, {"b", 1}}, 4, Any).size() == 3);
  CHECK(AssignSlots({}, 1, Any).empty());
}

TEST_CASE("AssignSlots passes over slots that may not be used",
          "[driver][unit]") {
  CHECK(AssignSlots({{"a", 2}, {"b", 1}}, 2, [](const WorkerId& slot) {
          return slot != WorkerId{"a", 0};
        }) == std::vector<WorkerId>{{"a", 1}, {"b", 0}});
}

TEST_CASE("hosts keep the order in which they were first listed",
          "[driver][unit]") {
  CHECK(InFirstListedOrder({{"new", 1}, {"b", 2}, {"a", 1}}, {"a", "b", "c"}) ==
        HostList{{"a", 1}, {"b", 2}, {"new", 1}});
}

TEST_CASE("CountHosts counts each host once", "[driver][unit]") {
  CHECK(CountHosts({{"a", 0}, {"b", 0}, {"a", 1}}) == 2);
  CHECK(CountHosts({}) == 0);
}

}  // namespace hvd
