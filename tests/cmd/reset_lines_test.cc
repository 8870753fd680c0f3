#include "cmd/reset_lines.h"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;

namespace hvd {
namespace {

using Lines = std::vector<std::string>;

Reset Loss() {
  return {.epoch = Epoch{2},
          .why = "rank 2 on a was killed by SIGKILL",
          .size_before = 4,
          .size_after = 3,
          .seen = 12'345'678us,
          .published = 12'345'812us,
          .formed = 12'354'012us};
}

}  // namespace

TEST_CASE(
    "a reset's line says when, from which size to which, how long and why",
    "[cmd][unit]") {
  CHECK(
      ResetLines({Loss()}) ==
      Lines{"1 reset:",
            "  epoch 2 at 12.345 s: 4 -> 3 workers, decided in 0.1 ms, formed "
            "in 8.2 ms: rank 2 on a was killed by SIGKILL"});
}

TEST_CASE("a reset that took long is told in seconds", "[cmd][unit]") {
  Reset reset = Loss();
  reset.published = reset.seen + 1'500ms;
  CHECK(ResetLines({reset}).back().find("decided in 1.5 s") !=
        std::string::npos);
}

TEST_CASE("a reset that was overtaken by the next one was never formed",
          "[cmd][unit]") {
  Reset overtaken = Loss();
  overtaken.formed.reset();
  const Lines lines = ResetLines({overtaken, Loss()});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "2 resets:");
  CHECK(lines[1].find(", never formed: rank 2 on a") != std::string::npos);
}

TEST_CASE("of many resets the last ten are told", "[cmd][unit]") {
  std::vector<Reset> resets(300, Loss());
  resets.back().epoch = Epoch{301};
  const Lines lines = ResetLines(resets);
  REQUIRE(lines.size() == 11);
  CHECK(lines[0] == "300 resets, the last 10 (--report has all):");
  CHECK(lines[10].find("  epoch 301 at ") == 0);
}

TEST_CASE("a job without resets says nothing of them", "[cmd][unit]") {
  CHECK(ResetLines({}).empty());
}

}  // namespace hvd
