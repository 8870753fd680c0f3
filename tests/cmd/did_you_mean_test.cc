#include "cmd/did_you_mean.h"

#include <catch2/catch.hpp>

namespace hvd {

TEST_CASE("EditDistance counts letters and swaps", "[cmd][unit]") {
  CHECK(EditDistance("", "") == 0);
  CHECK(EditDistance("abc", "") == 3);
  CHECK(EditDistance("--timeout", "--timout") == 1);
  CHECK(EditDistance("--hosts", "--hsots") == 1);
  CHECK(EditDistance("kitten", "sitting") == 3);
}

TEST_CASE("DidYouMean finds the nearest word", "[cmd][unit]") {
  const std::vector<std::string_view> known = {"--timeout", "--start-timeout",
                                               "--stdin", "--hosts"};
  CHECK(DidYouMean("--timout", known) == "--timeout");
  CHECK(DidYouMean("--strat-timeout", known) == "--start-timeout");
  CHECK(DidYouMean("--hots", known) == "--hosts");
}

TEST_CASE("DidYouMean says nothing when nothing is near", "[cmd][unit]") {
  const std::vector<std::string_view> known = {"--timeout", "-H", "--env"};
  CHECK_FALSE(DidYouMean("--frobnicate", known));
  CHECK_FALSE(DidYouMean("-x", known));
  CHECK_FALSE(DidYouMean(std::string(100'000, 'x'), known));
  CHECK_FALSE(DidYouMean("--x", {}));
}

}  // namespace hvd
