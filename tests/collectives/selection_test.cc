#include "collectives/selection.h"

#include <catch2/catch.hpp>

namespace hvd {

TEST_CASE("Thresholds are read over those that are built in", "[collectives]") {
  const Result<Selection> table = ParseSelection("one_shot=2K,slab=1M");
  REQUIRE(table.ok());
  CHECK(table.value().one_shot == 2048);
  CHECK(table.value().slab == 1048576);
  CHECK(table.value().chunk == Selection().chunk);
  CHECK(ParseSelection("").value() == Selection());
}

TEST_CASE("Thresholds that cannot be are refused with what may stand there",
          "[collectives]") {
  const auto says = [](const char* text) {
    const Result<Selection> table = ParseSelection(text);
    return table.ok() ? "" : table.error().message();
  };
  CHECK(says("one_shot=17K") ==
        "one_shot must be 0 to 16384 (bytes, or with K or M), got \"17K\"");
  CHECK(says("one_shot=-1") ==
        "one_shot must be 0 to 16384 (bytes, or with K or M), got \"-1\"");
  CHECK(says("chunk=1G").find("chunk must be") == 0);
  CHECK(says("chunk=99999999999999999999M").find("chunk must be") == 0);
  CHECK(says("chunk") ==
        "\"chunk\" must be NAME=BYTES with one of one_shot, chunk, block, "
        "stream, doubling, slab");
  CHECK(says("speed=11").find("\"speed=11\" must be NAME=BYTES") == 0);
}

TEST_CASE("Every threshold is part of the table's hash", "[collectives]") {
  const std::uint32_t usual = HashOf({});
  CHECK(usual != 0);
  CHECK(HashOf({}) == usual);
  CHECK(HashOf({.one_shot = 1}) != usual);
  CHECK(HashOf({.chunk = 1}) != usual);
  CHECK(HashOf({.block = 1}) != usual);
  CHECK(HashOf({.stream = 1}) != usual);
  CHECK(HashOf({.doubling = 1}) != usual);
  CHECK(HashOf({.slab = 1}) != usual);
}

}  // namespace hvd
