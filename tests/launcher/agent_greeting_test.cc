#include "launcher/agent_greeting.h"

#include <catch2/catch.hpp>

namespace hvd {
namespace {

using Lines = std::vector<std::string>;

// What is heard, however the bytes come.
Lines FeedByByte(GreetingScan& scan, std::string_view text) {
  Lines lines;
  for (const char c : text) {
    for (std::string& line : scan.Feed(std::string_view(&c, 1))) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("GreetingScan reads back the line that an agent prints",
          "[launcher]") {
  CHECK(GreetingLine("0.1.0") == "HVDRUN-AGENT 2 0.1.0\n");
  GreetingScan scan;
  CHECK(scan.Feed("HVDRUN-LOGIN\n").empty());
  CHECK(scan.logged_in());
  CHECK_FALSE(scan.greeting());
  CHECK(scan.Feed(GreetingLine("0.1.0")).empty());
  CHECK(scan.greeting() == AgentGreeting{kAgentProtocol, "0.1.0"});
}

TEST_CASE("GreetingScan tolerates what a login shell says before",
          "[launcher]") {
  const std::string text =
      "Welcome to b\r\n\n  3 updates\nlast words HVDRUN-LOGIN\r\n"
      "stty: no tty; HVDRUN-AGENT 7 1.0-rc2\n";
  for (const bool by_byte : {false, true}) {
    GreetingScan scan;
    const Lines lines = by_byte ? FeedByByte(scan, text) : scan.Feed(text);
    CHECK(lines == Lines{"Welcome to b", "  3 updates", "last words ",
                         "stty: no tty; "});
    CHECK(scan.logged_in());
    CHECK(scan.greeting() == AgentGreeting{7, "1.0-rc2"});
  }
}

TEST_CASE("GreetingScan takes nothing else for a greeting", "[launcher]") {
  for (const std::string line :
       {"HVDRUN-AGENT", "HVDRUN-AGENT ", "HVDRUN-AGENT 2", "HVDRUN-AGENT 2 ",
        "HVDRUN-AGENT x 1", "HVDRUN-AGENT -1 0.1.0", "HVDRUN-AGENT 2 a b",
        "HVDRUN-AGENT 99999999999 1", "HVDRUN-AGENT 2 \x1b[31m",
        "hvdrun-agent 1 0.1.0", "HVDRUN-LOGIN; exec \"$1\"",
        "+ echo HVDRUN-LOGIN "}) {
    CAPTURE(line);
    GreetingScan scan;
    CHECK(scan.Feed(line + "\n") == Lines{line});
    CHECK_FALSE(scan.greeting());
    CHECK_FALSE(scan.logged_in());
  }
}

TEST_CASE("GreetingScan waits for the end of the line", "[launcher]") {
  GreetingScan scan;
  CHECK(scan.Feed("HVDRUN-AGENT 2 0.1").empty());
  CHECK_FALSE(scan.greeting());
  CHECK(scan.Feed(".0\nmore").empty());
  CHECK(scan.greeting() == AgentGreeting{2, "0.1.0"});
  CHECK(scan.Rest() == "more");
  CHECK(scan.Rest().empty());
}

TEST_CASE("GreetingScan holds little of a line that never ends", "[launcher]") {
  GreetingScan scan;
  for (int i = 0; i < 100; ++i) scan.Feed(std::string(1000, '\0'));
  CHECK_FALSE(scan.too_much());
  CHECK(scan.Feed("HVDRUN-AGENT 2 0.1.0\n").size() == 1);
  CHECK(scan.greeting() == AgentGreeting{2, "0.1.0"});
}

TEST_CASE("GreetingScan has enough at some time, but not after a greeting",
          "[launcher]") {
  GreetingScan scan;
  scan.Feed(std::string(kMostBeforeGreeting, 'x'));
  CHECK_FALSE(scan.too_much());
  scan.Feed("x");
  CHECK(scan.too_much());
  GreetingScan greeted;
  greeted.Feed(GreetingLine("0.1.0"));
  greeted.Feed(std::string(kMostBeforeGreeting, 'x'));
  CHECK_FALSE(greeted.too_much());
}

}  // namespace hvd
