#include "base/seconds.h"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;

namespace hvd {

TEST_CASE("ParseSeconds reads whole and broken seconds", "[base]") {
  CHECK(ParseSeconds("30").value() == 30s);
  CHECK(ParseSeconds("0.5").value() == 500ms);
  CHECK(ParseSeconds(".25").value() == 250ms);
  CHECK(ParseSeconds("1.0019").value() == 1001ms);
  CHECK(ParseSeconds("0").value() == 0s);
}

TEST_CASE("ParseSeconds refuses what is no number of seconds", "[base]") {
  for (const char* text : {"", ".", "x", "1s", "-1", "+1", "1e3", "1.2.3",
                           "99999999999999999999", "inf", " 1"}) {
    CAPTURE(text);
    REQUIRE_FALSE(ParseSeconds(text).ok());
    CHECK(ParseSeconds(text).error().code() == ErrorCode::kInvalidArgument);
  }
}

TEST_CASE("SecondsText is short and reads back as the same time", "[base]") {
  CHECK(SecondsText(30s) == "30 s");
  CHECK(SecondsText(500ms) == "0.5 s");
  CHECK(SecondsText(2050ms) == "2.05 s");
  CHECK(SecondsText(-3ms) == "0 s");
}

}  // namespace hvd
