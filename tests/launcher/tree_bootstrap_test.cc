#include "launcher/tree_bootstrap.h"

#include <catch2/catch.hpp>
#include <map>
#include <variant>

#include "tests/discovery/pump.h"
#include "tests/launcher/fake_bootstrap.h"

namespace hvd {
namespace {

using testing::FakeBootstrap;
using Lines = std::vector<std::string>;

// hosts b, c, d, ... whose agents the test plays; hvdrun may start one of them,
// each agent one.
struct Fixture {
  explicit Fixture(StartTree::Limits limits = {.fan_out = 1})
      : tree(loop, here,
             {.limits = limits,
              .shell = {.command = {"rsh"}},
              .place = {.kind = AgentPlace::Kind::kGiven, .path = "/a"}},
             {.on_room = [this] { ++rooms; },
              .say =
                  [this](const std::string& line) { told.push_back(line); }}) {}

  void Start(const std::string& host) {
    attempts[host] = tree.Start(
        {host, {.user = "ann"}},
        [this, host] {
          return host + " payload " + std::to_string(++payloads[host]);
        },
        {.on_chatter =
             [this, host](std::string_view line) {
               told.push_back(host + " says " + std::string(line));
             },
         .on_login = [this, host] { told.push_back(host + " login"); },
         .on_agent =
             [this, host](const std::string& version) {
               told.push_back(host + " agent " + version);
             },
         .on_restart = [this, host] { told.push_back(host + " restart"); },
         .on_end =
             [this, host](const BootstrapEnd& end) {
               told.push_back(host + " end " + end.reason);
               attempts.erase(host);
             }});
  }
  // Its agent has dialled.
  void Come(const std::string& host) {
    tree.Add(host, [this, host](AgentCommand c) { heard[host].push_back(c); });
  }
  // hvdrun has started it and it may start others.
  void Grow(const std::string& host) {
    Start(host);
    here.Greet(host);
    Come(host);
    told.clear();
  }
  // What `agent` was asked to do for `host` last; 0: nothing yet.
  std::uint64_t Asked(const std::string& agent, const std::string& host) {
    std::uint64_t start = 0;
    for (const AgentCommand& command : heard[agent]) {
      const auto* other = std::get_if<AgentStartOther>(&command);
      if (other != nullptr && other->host.host == host) start = other->start;
    }
    return start;
  }
  bool Hears(const std::string& agent, const AgentCommand& command) {
    const auto& all = heard[agent];
    return std::find(all.begin(), all.end(), command) != all.end();
  }
  void Fail(const std::string& agent, const std::string& host, StartPhase phase,
            Again again, const std::string& reason) {
    tree.OnEvent(agent, AgentOtherEnded{.start = Asked(agent, host),
                                        .phase = phase,
                                        .code = ErrorCode::kUnavailable,
                                        .message = reason,
                                        .reason = reason,
                                        .again = again});
  }

  EventLoop loop;
  FakeBootstrap here;
  int rooms = 0;
  Lines told;
  std::map<std::string, std::vector<AgentCommand>> heard;
  std::map<std::string, int> payloads;
  TreeBootstrap tree;
  std::map<std::string, std::unique_ptr<BootstrapAttempt>> attempts;
};

BootstrapEnd EndHere(StartPhase phase, const std::string& reason) {
  return {phase, {ErrorCode::kUnavailable, reason}, reason, Again::kHopeless};
}

}  // namespace

TEST_CASE("an agent starts the hosts that hvdrun has no room for",
          "[launcher]") {
  Fixture f;
  f.Grow("b");
  CHECK(f.tree.HasRoom());
  f.Start("c");
  CHECK(f.here.open() == std::set<std::string>{"b"});
  REQUIRE(f.heard["b"].size() == 1);
  CHECK(f.heard["b"][0] ==
        AgentCommand(AgentStartOther{
            .start = f.Asked("b", "c"),
            .host = {"c", {.user = "ann"}},
            .shell = {.command = {"rsh"}},
            .place = {.kind = AgentPlace::Kind::kGiven, .path = "/a"},
            .payload = "c payload 1"}));
  CHECK_FALSE(f.tree.HasRoom());
  const std::uint64_t start = f.Asked("b", "c");
  f.tree.OnEvent("b", AgentOtherSaid{start, "hello"});
  f.tree.OnEvent("b", AgentOtherLogin{start});
  f.tree.OnEvent("b", AgentOtherGreeted{start, "1.0"});
  CHECK(f.told == Lines{"c says hello", "c login", "c agent 1.0"});
  f.Come("c");
  CHECK(f.told.size() == 3);
  CHECK(f.tree.HasRoom());
  f.Start("d");
  CHECK(f.Asked("c", "d") != 0);
}

TEST_CASE("an agent that dials before its greeting is told has greeted",
          "[launcher]") {
  Fixture f;
  f.Grow("b");
  f.Start("c");
  const std::uint64_t start = f.Asked("b", "c");
  f.Come("c");
  CHECK(f.told == Lines{"c agent "});
  f.tree.OnEvent("b", AgentOtherGreeted{start, "1.0"});
  CHECK(f.told.size() == 1);
}

TEST_CASE("a host that is dropped is ended by whoever has started it",
          "[launcher]") {
  Fixture f;
  f.Grow("b");
  f.Start("c");
  const std::uint64_t start = f.Asked("b", "c");
  f.attempts.erase("c");
  CHECK(f.Hears("b", AgentEndOther{start}));
  CHECK(f.tree.HasRoom());
  f.tree.OnEvent("b", AgentOtherLogin{start});  // was on its way
  CHECK(f.told.empty());
  f.Start("d");
  CHECK(f.Asked("b", "d") > start);
}

TEST_CASE("the end of an agent is told by whoever has started it",
          "[launcher]") {
  Fixture f;
  f.Grow("b");
  f.Start("c");
  f.tree.OnEvent("b", AgentOtherGreeted{f.Asked("b", "c"), "1.0"});
  f.Come("c");
  f.Fail("b", "c", StartPhase::kAgentAnswers, Again::kWorthIt, "ssh ended");
  CHECK(f.told == Lines{"c agent 1.0", "c end ssh ended"});
}

TEST_CASE("what an agent cannot start hvdrun starts, and that is said once",
          "[launcher]") {
  Fixture f;
  f.Grow("b");
  f.Start("c");
  f.Fail("b", "c", StartPhase::kAuthenticate, Again::kHopeless, "denied");
  CHECK(f.rooms > 0);
  CHECK(f.told.empty());
  REQUIRE(f.here.open().contains("c"));
  f.here.Login("c");
  CHECK(f.told == Lines{"host b cannot log in to host c (denied): what other "
                        "hosts cannot start is started from here",
                        "c login"});
  f.here.Greet("c");
  CHECK(f.told.size() == 3);
  SECTION("nor is it asked again") {
    f.Come("c");
    f.Start("d");
    CHECK(f.Asked("b", "d") == 0);
    REQUIRE(f.Asked("c", "d") != 0);
    f.Fail("c", "d", StartPhase::kAuthenticate, Again::kHopeless, "denied");
    f.here.Login("d");
    CHECK(f.told.back() == "d login");
  }
}

TEST_CASE("a host that nobody can start is told as hvdrun finds it",
          "[launcher]") {
  Fixture f;
  f.Grow("b");
  f.Start("c");
  f.Fail("b", "c", StartPhase::kAuthenticate, Again::kHopeless, "b's reason");
  f.here.End("c", EndHere(StartPhase::kAuthenticate, "denied"));
  CHECK(f.told == Lines{"c end denied"});
  f.Start("d");  // b was not at fault
  CHECK(f.Asked("b", "d") != 0);
}

TEST_CASE("a host whose starter is lost is started from another place",
          "[launcher]") {
  Fixture f({.fan_out = 2});
  f.Grow("b");
  f.Grow("c");
  f.Start("d");
  REQUIRE(f.Asked("b", "d") != 0);
  f.tree.OnEvent("b", AgentOtherLogin{f.Asked("b", "d")});
  f.tree.Remove("b");
  CHECK(f.Asked("c", "d") != 0);
  // What b's try was given is good for nothing: it was asked for once more, and
  // then for the new try.
  CHECK(f.payloads["d"] == 3);
  CHECK(f.told == Lines{"d login", "d restart"});
  f.Come("d");
  f.tree.Remove("c");
  CHECK(f.told == Lines{"d login", "d restart", "d agent "});  // it stays
  CHECK(f.here.tries("d") == 0);
}

TEST_CASE("hvdrun starts a host when all others that might are lost",
          "[launcher]") {
  Fixture f;
  f.Grow("b");
  f.Start("c");
  SECTION("before its agent has greeted") {}
  SECTION("after that, as it may have ended with its starter") {
    f.tree.OnEvent("b", AgentOtherGreeted{f.Asked("b", "c"), "1.0"});
  }
  f.tree.Remove("b");
  CHECK(f.told.back() == "c restart");
  CHECK(f.here.open().contains("c"));
  f.here.Greet("c");
  CHECK(f.told.back() == "c agent 1.0");
}

TEST_CASE("an agent whose starter is lost is told to go on", "[launcher]") {
  Fixture f;
  f.Grow("b");
  f.Start("c");
  SECTION("it asks before") {
    f.Come("c");
    f.tree.OnEvent("c", AgentCutOff{});
    CHECK_FALSE(f.Hears("c", AgentStay{}));
    f.tree.Remove("b");
    CHECK(f.Hears("c", AgentStay{}));
  }
  SECTION("it asks after") {
    f.Come("c");
    f.tree.Remove("b");
    CHECK_FALSE(f.Hears("c", AgentStay{}));
    f.tree.OnEvent("c", AgentCutOff{});
    CHECK(f.Hears("c", AgentStay{}));
  }
  f.Start("d");
  CHECK(f.Asked("c", "d") != 0);  // it is as good as any other
}

TEST_CASE("an agent that hvdrun has started is not told to go on",
          "[launcher]") {
  Fixture f;
  f.Grow("b");
  f.tree.OnEvent("b", AgentCutOff{});
  CHECK(f.heard["b"].empty());
  f.here.End("b", EndHere(StartPhase::kAgentAnswers, "ssh ended"));
  CHECK(f.told == Lines{"b end ssh ended"});
}

TEST_CASE("hosts that leave together start nobody who leaves with them",
          "[launcher]") {
  Fixture f;
  f.Start("b");
  f.Start("c");  // waits
  f.attempts.erase("b");
  f.attempts.erase("c");
  f.Start("e");
  f.Start("d");  // waits, and nobody else asks
  f.attempts.erase("e");
  CHECK(testing::PumpUntil(
      f.loop, [&] { return f.here.open().contains("d"); }, Duration{5000}));
  CHECK(f.here.tries("c") == 0);
}

}  // namespace hvd
