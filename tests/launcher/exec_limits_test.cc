#include "launcher/exec_limits.h"

#include <catch2/catch.hpp>
#include <string>

namespace hvd {

TEST_CASE("StackLimitFor asks for four times what is passed", "[launcher]") {
  const auto small = StackLimitFor("/bin/true", {"true"}, {{"A", "B"}});
  REQUIRE(small.ok());
  CHECK(small.value() < 1000);
  const auto large = StackLimitFor(
      "/bin/true", {"true"},
      {{"A", std::string(100'000, 'x')}, {"B", std::string(100'000, 'x')}});
  REQUIRE(large.ok());
  CHECK(large.value() > 4 * 200'000);
  CHECK(large.value() < 4 * 201'000);
}

TEST_CASE("StackLimitFor names the variable that is too long for any limit",
          "[launcher]") {
  const auto limit = StackLimitFor("/bin/true", {"true"},
                                   {{"SECRET", std::string(128 << 10, 's')}});
  REQUIRE_FALSE(limit.ok());
  CHECK(limit.error().message() ==
        "environment variable SECRET: 131079 bytes, and the kernel takes at "
        "most 131071 in one");
}

TEST_CASE("StackLimitFor takes the longest string that the kernel takes",
          "[launcher]") {
  const std::string longest((128 << 10) - 3, 'x');  // "A=" and its NUL
  CHECK(StackLimitFor("/bin/true", {"true"}, {{"A", longest}}).ok());
  CHECK_FALSE(
      StackLimitFor("/bin/true", {"true"}, {{"A", longest + 'x'}}).ok());
}

TEST_CASE("StackLimitFor names the argument that is too long", "[launcher]") {
  const auto limit =
      StackLimitFor("/bin/true", {"true", std::string(200'000, 'x')}, {});
  REQUIRE_FALSE(limit.ok());
  CHECK(limit.error().message() ==
        "argument 1: 200000 bytes, and the kernel takes at most 131071 in one");
}

TEST_CASE("StackLimitFor names the largest variable when all are too much",
          "[launcher]") {
  EnvList env{{"LARGEST", std::string(110'000, 'x')}};
  for (int i = 0; i < 70; ++i) {
    env.emplace_back("V" + std::to_string(i), std::string(100'000, 'x'));
  }
  const auto limit = StackLimitFor("/bin/true", {"true"}, env);
  REQUIRE_FALSE(limit.ok());
  CHECK(limit.error().message().find("LARGEST with 110000") !=
        std::string::npos);
}

}  // namespace hvd
