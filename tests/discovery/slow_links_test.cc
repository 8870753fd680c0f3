#include "discovery/slow_links.h"

#include <catch2/catch.hpp>

namespace hvd {
namespace {

using Places = std::vector<std::size_t>;
constexpr auto kUnknown = std::nullopt;

}  // namespace

TEST_CASE("the machine at both of whose links little arrives is slow",
          "[discovery]") {
  // Two of three links are slow: what they have is not the measure.
  CHECK(FindSlowLinks({1, 1, 10}) == SlowLinks{10, {0, 1}, {1}});
  CHECK(FindSlowLinks({10, 1, 1}) == SlowLinks{10, {1, 2}, {2}});
  CHECK(FindSlowLinks({1, 10, 1}) == SlowLinks{10, {0, 2}, {0}});
  CHECK(FindSlowLinks({9, 1, 1, 10}) == SlowLinks{9, {1, 2}, {2}});
  CHECK(FindSlowLinks({9, 8, 10, 1, 1, 11}) == SlowLinks{9, {3, 4}, {4}});
}

TEST_CASE("two slow machines side by side are both slow", "[discovery]") {
  CHECK(FindSlowLinks({10, 1, 1, 1, 10, 10, 10}) ==
        SlowLinks{10, {1, 2, 3}, {2, 3}});
}

TEST_CASE("one slow link alone blames no machine", "[discovery]") {
  CHECK(FindSlowLinks({10, 10, 1, 10}) == SlowLinks{10, {2}, {}});
}

TEST_CASE("between two machines only the direction is named", "[discovery]") {
  CHECK(FindSlowLinks({1, 10}) == SlowLinks{10, {0}, {}});
  CHECK(FindSlowLinks({10, 9}) == SlowLinks{10, {}, {}});
}

TEST_CASE("half of what the others have is not slow", "[discovery]") {
  CHECK(FindSlowLinks({5, 10, 10, 10}).links.empty());
  CHECK(FindSlowLinks({4.9, 10, 10, 10}).links == Places{0});
}

TEST_CASE("a link of which nothing is known is compared with nothing",
          "[discovery]") {
  CHECK(FindSlowLinks({kUnknown, 1, 10}) == SlowLinks{10, {1}, {}});
  CHECK(FindSlowLinks({kUnknown, kUnknown, 10}) == SlowLinks{});
  CHECK(FindSlowLinks({}) == SlowLinks{});
}

TEST_CASE("a link on which nothing arrives at all is slow", "[discovery]") {
  CHECK(FindSlowLinks({0, 0, 10}) == SlowLinks{10, {0, 1}, {1}});
  CHECK(FindSlowLinks({0, 0}).links.empty());
}

}  // namespace hvd
