#include <catch2/catch.hpp>
#include <string>

#include "base/hex.h"
#include "base/random_bytes.h"
#include "base/shell_quote.h"

namespace hvd {

TEST_CASE("ShellQuote leaves plain words as they are", "[base]") {
  CHECK(ShellQuote("./train") == "./train");
  CHECK(ShellQuote("--lr=0.1") == "--lr=0.1");
}

TEST_CASE("ShellQuote makes one word of anything else", "[base]") {
  CHECK(ShellQuote("") == "''");
  CHECK(ShellQuote("a b") == "'a b'");
  CHECK(ShellQuote("it's $HOME") == "'it'\\''s $HOME'");
}

TEST_CASE("Hex survives a round trip and refuses what is not hex", "[base]") {
  const std::string bytes("\x00\x7f\xff z", 5);
  CHECK(ToHex(bytes) == "007fff207a");
  CHECK(FromHex("007FFF207a") == bytes);
  CHECK_FALSE(FromHex("abc"));
  CHECK_FALSE(FromHex("zz"));
}

TEST_CASE("RandomBytes differ from call to call", "[base]") {
  CHECK(RandomBytes(32).size() == 32);
  CHECK(RandomBytes(32) != RandomBytes(32));
}

}  // namespace hvd
