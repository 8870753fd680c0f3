#include "cmd/clock_offset.h"

#include <catch2/catch.hpp>

namespace hvd {
namespace {

using std::chrono::microseconds;

constexpr std::int64_t kNow = 1'700'000'000'000'000;

}  // namespace

TEST_CASE("a clock is compared in the middle of the shortest round trip",
          "[cmd]") {
  // Ahead by 5 ms; the others waited on one of both ways.
  CHECK(OffsetOf({{kNow, microseconds{9'000}, kNow + 5'000 + 8'000},
                  {kNow, microseconds{200}, kNow + 5'000 + 100},
                  {kNow, microseconds{7'000}, kNow + 5'000}}) ==
        ClockOffset{microseconds{5'000}, microseconds{100}});
}

TEST_CASE("the true offset lies within the error that is told", "[cmd]") {
  constexpr std::int64_t kTrue = -3'000'000;
  for (std::int64_t there = 0; there <= 301; ++there) {
    const auto offset =
        OffsetOf({{kNow, microseconds{301}, kNow + kTrue + there}});
    REQUIRE(offset.has_value());
    CHECK(std::abs(offset->ahead.count() - kTrue) <= offset->error.count());
  }
}

TEST_CASE("no answer is no clock", "[cmd]") { CHECK_FALSE(OffsetOf({})); }

TEST_CASE("a clock's offset is told with its error", "[cmd]") {
  const auto text = [](std::int64_t ahead, std::int64_t error) {
    return ClockOffsetText({microseconds{ahead}, microseconds{error}});
  };
  CHECK(text(310, 120) == "+0.31 ms +-0.12 ms");
  CHECK(text(-4, 0) == "+0.00 ms +-0.00 ms");
  CHECK(text(-999'990, 50) == "-999.99 ms +-0.05 ms");
  CHECK(text(-3'200'000, 120) == "-3.200 s +-0.12 ms");
}

TEST_CASE("only a clock that is surely off by a second is wrong", "[cmd]") {
  const auto wrong = [](std::int64_t ahead, std::int64_t error) {
    return IsClockWrong({microseconds{ahead}, microseconds{error}});
  };
  CHECK_FALSE(wrong(1'000'000, 0));
  CHECK(wrong(1'000'001, 0));
  CHECK(wrong(-1'000'001, 0));
  CHECK_FALSE(wrong(-1'000'100, 100));
}

}  // namespace hvd
