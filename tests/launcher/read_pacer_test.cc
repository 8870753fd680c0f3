#include "launcher/read_pacer.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace std::chrono_literals;

namespace hvd {
namespace {

constexpr Instant kStart{1000s};

}  // namespace

TEST_CASE("ReadPacer rests after two small reads in a row", "[launcher]") {
  ReadPacer pacer;
  CHECK_FALSE(pacer.RestAfter(100, kStart));
  CHECK(pacer.RestAfter(100, kStart + 100us));
  // The rest is over: the next one is at once again a sign or not.
  CHECK_FALSE(pacer.RestAfter(100, kStart + 2ms));
  CHECK(pacer.RestAfter(100, kStart + 2900us));
}

TEST_CASE("ReadPacer reads what comes seldom at once", "[launcher]") {
  ReadPacer pacer;
  for (Instant now = kStart; now < kStart + 100ms; now += 1ms) {
    CHECK_FALSE(pacer.RestAfter(100, now));
  }
}

TEST_CASE("ReadPacer reads what comes in large parts at once", "[launcher]") {
  ReadPacer pacer;
  for (int i = 0; i < 100; ++i) {
    CHECK_FALSE(pacer.RestAfter(ReadPacer::kSmall, kStart));
  }
}

}  // namespace hvd
