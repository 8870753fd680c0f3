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

TEST_CASE("ShellQuote leaves out of quotes what shells read differently",
          "[base]") {
  CHECK(ShellQuote("a\\b!") == "'a'\\\\'b'\\!''");
  CHECK(ShellQuote("=ls") == "'=ls'");
  CHECK(ShellQuote("%1") == "'%1'");
  CHECK(ShellQuote(std::vector<std::string>{"a", "b c", ""}) == "a 'b c' ''");
}

TEST_CASE("SplitShellWords sees the words that a shell would", "[base]") {
  using Words = std::vector<std::string>;
  CHECK(SplitShellWords("").value().empty());
  CHECK(SplitShellWords(" -o  A=b\t-v\n").value() == Words{"-o", "A=b", "-v"});
  CHECK(SplitShellWords("-o 'A=b c' \"d'\\\"e\\n\" f\\ g ''").value() ==
        Words{"-o", "A=b c", "d'\"e\\n", "f g", ""});
  CHECK(SplitShellWords("$HOME *").value() == Words{"$HOME", "*"});
  CHECK(SplitShellWords("'\\'").value() == Words{"\\"});
  for (const char* open : {"'a", "a\"b c"}) {
    CAPTURE(open);
    const auto words = SplitShellWords(open);
    REQUIRE_FALSE(words.ok());
    CHECK(words.error().message().find("is not closed") != std::string::npos);
  }
}

TEST_CASE("SplitShellWords reads back what ShellQuote has written", "[base]") {
  const std::vector<std::string> words = {"a", "it's", "b c", "", "\\ ! \"$x`"};
  CHECK(SplitShellWords(ShellQuote(words)).value() == words);
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
