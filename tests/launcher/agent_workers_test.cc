#include "launcher/agent_workers.h"

#include <catch2/catch.hpp>
#include <variant>

#include "tests/launcher/agent_host.h"

namespace hvd {
namespace {

using testing::AgentHost;

constexpr Duration kHostTimeout{300};
// Longer than one that is cut off waits for an answer.
constexpr Duration kLonger{3'500};

bool Asks(AgentHost& host) {
  return host.WaitUntil([&] {
    return !host.events.empty() &&
           std::holds_alternative<AgentCutOff>(host.events.back());
  });
}

}  // namespace

TEST_CASE("an agent that is cut off goes on if hvdrun says so", "[agent]") {
  AgentHost t(kHostTimeout);
  t.CutOff();
  REQUIRE(Asks(t));
  t.launcher().Send(AgentStay{});
  CHECK_FALSE(t.WaitUntil([&] { return t.agent_end.has_value(); }, kLonger));
  CHECK(t.WaitForExit(t.Shell("exit 7")).code == 7);
}

TEST_CASE("an agent that is cut off ends if hvdrun says nothing of it",
          "[agent]") {
  AgentHost t(kHostTimeout);
  t.CutOff();
  REQUIRE(Asks(t));
  REQUIRE(t.WaitUntil([&] { return t.agent_end.has_value(); }));
  REQUIRE(t.agent_end->has_value());
  CHECK((*t.agent_end)->message() ==
        "the connection that started this agent has ended");
}

TEST_CASE("an agent that is cut off waits for a hvdrun that rests", "[agent]") {
  AgentHost t(kHostTimeout);
  bool rests = false;
  t.launcher().Rest([&] { rests = true; });
  REQUIRE(t.WaitUntil([&] { return rests; }));
  t.cable().cut = true;  // a stopped hvdrun reads nothing and says nothing
  t.CutOff();
  CHECK_FALSE(t.WaitUntil([&] { return t.agent_end.has_value(); }, kLonger));
}

TEST_CASE("an agent that is cut off while it dials asks when it is there",
          "[agent]") {
  AgentHost t(kHostTimeout, AgentHost::Dials::kLater);
  t.CutOff();
  SECTION("it gets there") {
    t.Dial();
    REQUIRE(Asks(t));
    CHECK(std::holds_alternative<AgentAbout>(t.events.front()));
    CHECK_FALSE(t.agent_end.has_value());
  }
  SECTION("it does not") {
    CHECK(t.WaitUntil([&] { return t.agent_end.has_value(); }));
  }
}

}  // namespace hvd
