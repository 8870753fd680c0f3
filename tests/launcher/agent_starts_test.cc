#include "launcher/agent_starts.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/launcher/fake_bootstrap.h"

namespace hvd {
namespace {

using testing::FakeBootstrap;
using Lines = std::vector<std::string>;

constexpr Duration kLimit{10'000};

AgentStarts::Options Quick() {
  return {.start_timeout = kLimit,
          .first_pause = Duration{2},
          .longest_pause = Duration{8}};
}

// AgentStarts over hosts that the test plays.
struct Fixture {
  explicit Fixture(AgentStarts::Options options = Quick())
      : starts(std::make_unique<AgentStarts>(
            loop, bootstrap, options,
            [this](const std::string& host) {
              return host + " payload " + std::to_string(++payloads);
            },
            AgentStartHandlers{
                .on_agent =
                    [this](const std::string& host, const std::string& v) {
                      told.push_back("agent " + host + ' ' + v);
                    },
                .on_failed =
                    [this](const std::string& host, const Error& error) {
                      told.push_back("failed " + host + ": " + error.message());
                    },
                .on_ended =
                    [this](const std::string& host, const Error& error) {
                      told.push_back("ended " + host + ": " + error.message());
                    },
                .on_chatter =
                    [this](const std::string& line) {
                      told.push_back(line);
                    }})) {}

  // Until that many tries of `host` were begun.
  bool Tries(const std::string& host, int count) {
    return loop.RunUntil([&] { return bootstrap.tries(host) >= count; },
                         kLimit);
  }
  bool Hears(std::size_t lines) {
    return loop.RunUntil([&] { return told.size() >= lines; }, kLimit);
  }

  EventLoop loop;
  FakeBootstrap bootstrap;
  int payloads = 0;
  Lines told;
  std::unique_ptr<AgentStarts> starts;
};

BootstrapEnd Refused(const std::string& host) {
  return {StartPhase::kConnect,
          {ErrorCode::kUnavailable, "host " + host + ": connect: refused"},
          "refused",
          Again::kWorthIt};
}

BootstrapEnd Denied(const std::string& host) {
  return {StartPhase::kAuthenticate,
          {ErrorCode::kInvalidArgument, "host " + host + ": denied"},
          "denied",
          Again::kHopeless};
}

}  // namespace

TEST_CASE("AgentStarts makes one connection a host", "[launcher]") {
  Fixture f;
  f.starts->Want({"b"});
  f.starts->Want({"c", {.user = "root"}});
  f.starts->Want({"b"});
  CHECK(f.bootstrap.open() == std::set<std::string>{"b", "c"});
  CHECK(f.bootstrap.host("c").login.user == "root");
  CHECK(f.starts->Waiting() == "waiting for hosts: b (connect), c (connect)");
  f.bootstrap.Login("b");
  CHECK(f.starts->Waiting() ==
        "waiting for hosts: b (agent starts), c (connect)");
  f.bootstrap.Greet("b");
  CHECK(f.told == Lines{"agent b 1.0"});
  CHECK(f.starts->Waiting() ==
        "waiting for hosts: b (agent answers), c (connect)");
  f.starts->SetPhase("b", StartPhase::kInterfaceProof);
  CHECK(f.starts->Waiting() ==
        "waiting for hosts: b (interface proof), c (connect)");
  f.starts->Ready("b");
  f.bootstrap.Greet("c");
  f.starts->Ready("c");
  CHECK(f.starts->Waiting().empty());
  CHECK(f.bootstrap.tries("b") == 1);
}

TEST_CASE("AgentStarts tries again what may go better, with new secrets",
          "[launcher]") {
  Fixture f;
  f.starts->Want({"b"});
  f.bootstrap.End("b", Refused("b"));
  CHECK(f.starts->Waiting() == "waiting for hosts: b (connect: refused)");
  REQUIRE(f.Tries("b", 2));
  f.bootstrap.End("b", Refused("b"));
  REQUIRE(f.Tries("b", 3));
  CHECK(f.starts->Waiting() ==
        "waiting for hosts: b (connect: refused, try 3)");
  CHECK(f.bootstrap.payloads() ==
        Lines{"b payload 1", "b payload 2", "b payload 3"});
  f.bootstrap.Login("b");
  CHECK(f.starts->Waiting() == "waiting for hosts: b (agent starts, try 3)");
  f.bootstrap.Greet("b");
  CHECK(f.told == Lines{"agent b 1.0"});
}

TEST_CASE("AgentStarts waits again for an agent that is started again",
          "[launcher]") {
  Fixture f;
  f.starts->Want({"b"});
  f.bootstrap.Login("b");
  f.bootstrap.Greet("b");
  f.bootstrap.Restart("b");
  CHECK(f.starts->Waiting() == "waiting for hosts: b (connect)");
  f.bootstrap.End("b", Refused("b"));
  REQUIRE(f.Tries("b", 2));  // as if it had never greeted
}

TEST_CASE("AgentStarts gives up at once what is hopeless", "[launcher]") {
  Fixture f;
  f.starts->Want({"b"});
  f.starts->Want({"c"});
  f.bootstrap.End("b", Denied("b"));
  CHECK(f.told == Lines{"failed b: host b: denied"});
  CHECK(f.starts->Waiting() == "waiting for hosts: c (connect)");
  CHECK(f.bootstrap.open() == std::set<std::string>{"c"});
}

TEST_CASE("AgentStarts ends its tries in time, with the last reason",
          "[launcher]") {
  AgentStarts::Options options = Quick();
  options.start_timeout = Duration{50};
  Fixture f(options);
  f.starts->Want({"b"});
  f.starts->Want({"c"});
  f.starts->Want({"d"});
  f.bootstrap.End("b", Refused("b"));
  f.bootstrap.Greet("d");
  REQUIRE(f.Hears(4));
  REQUIRE(f.told.size() == 4);
  CHECK(f.told[0] == "agent d 1.0");
  CHECK(f.told[1] == "failed b: host b: connect: refused (2 tries in 0.05 s)");
  CHECK(f.told[2] == "failed c: host c: connect: nothing came within 0.05 s");
  CHECK(f.told[3] ==
        "failed d: host d: agent answers: nothing came within 0.05 s");
  CHECK(f.bootstrap.open().empty());
}

TEST_CASE("a host that is ready has no time limit any more", "[launcher]") {
  AgentStarts::Options options = Quick();
  options.start_timeout = Duration{20};
  Fixture f(options);
  f.starts->Want({"b"});
  f.bootstrap.Greet("b");
  f.starts->Ready("b");
  f.starts->Want({"c"});
  REQUIRE(f.Hears(2));
  CHECK(f.told[1].starts_with("failed c"));
  CHECK(f.bootstrap.open() == std::set<std::string>{"b"});
}

TEST_CASE("AgentStarts begins no more than the bootstrap has room for",
          "[launcher]") {
  Fixture f;
  f.bootstrap.room = 2;
  for (const char* host : {"b", "c", "d", "e"}) f.starts->Want({host});
  CHECK(f.bootstrap.open() == std::set<std::string>{"b", "c"});
  CHECK(f.starts->Waiting() ==
        "waiting for hosts: b (connect), c (connect), d (its turn), e (its "
        "turn)");
  f.bootstrap.Greet("b");
  CHECK(f.bootstrap.open() == std::set<std::string>{"b", "c", "d"});
  f.bootstrap.End("c", Refused("c"));
  CHECK(f.bootstrap.open() == std::set<std::string>{"b", "d", "e"});
  f.bootstrap.End("d", Denied("d"));
  REQUIRE(f.Tries("c", 2));
  f.starts->Drop("e");
  CHECK(f.bootstrap.open() == std::set<std::string>{"b", "c"});
  f.starts->Want({"f"});
  f.starts->Want({"g"});
  CHECK(f.bootstrap.tries("g") == 0);
  f.bootstrap.room = 3;
  f.starts->Next();
  CHECK(f.bootstrap.tries("g") == 1);
}

TEST_CASE("a host that is dropped is not heard of again", "[launcher]") {
  Fixture f;
  f.bootstrap.room = 1;
  f.starts->Want({"b"});
  f.starts->Want({"c"});
  f.starts->Want({"d"});
  f.starts->Drop("c");  // it had no turn yet
  f.starts->Drop("b");
  CHECK(f.bootstrap.open() == std::set<std::string>{"d"});
  f.bootstrap.End("d", Refused("d"));
  f.starts->Drop("d");  // it rests
  f.starts->Want({"e"});
  f.starts->Drop("nobody");
  f.bootstrap.Greet("e");
  CHECK(f.told == Lines{"agent e 1.0"});
  CHECK(f.bootstrap.tries("c") == 0);
}

TEST_CASE("the end of an agent is told, and its host may be wanted again",
          "[launcher]") {
  Fixture f;
  f.starts->Want({"b"});
  f.bootstrap.Greet("b");
  f.starts->Ready("b");
  f.bootstrap.End("b", Refused("b"));
  CHECK(f.told == Lines{"agent b 1.0", "ended b: host b: connect: refused"});
  f.starts->Want({"b"});
  CHECK(f.bootstrap.open() == std::set<std::string>{"b"});
}

TEST_CASE("what ssh says is shown when it explains an end, and not before",
          "[launcher]") {
  Fixture f;
  f.starts->Want({"b"});
  for (int i = 0; i < 100; ++i) f.bootstrap.Say("b", "tip of the day");
  f.bootstrap.Say("b", "core dumped");
  CHECK(f.told.empty());
  BootstrapEnd end = Denied("b");
  SECTION("the error says all") {
    f.bootstrap.End("b", end);
    CHECK(f.told == Lines{"failed b: host b: denied"});
  }
  SECTION("the error does not") {
    end.explained = false;
    f.bootstrap.End("b", end);
    CHECK(f.told.size() == 13);
    CHECK(f.told[11] == "ssh b: core dumped");
    CHECK(f.told[12] == "failed b: host b: denied");
  }
}

TEST_CASE("what ssh says is shown at once if asked for, up to a limit",
          "[launcher]") {
  AgentStarts::Options options = Quick();
  options.chatter = ChatterWhen::kAtOnce;
  Fixture f(options);
  f.starts->Want({"b"});
  f.bootstrap.Say("b", "Welcome");
  CHECK(f.told == Lines{"ssh b: Welcome"});
  for (int i = 0; i < 1000; ++i) f.bootstrap.Say("b", "more");
  CHECK(f.told.size() < 300);
  CHECK(f.told.back() == "ssh b: says more, which is not shown");
}

TEST_CASE("a handler of AgentStarts may destroy it", "[launcher]") {
  EventLoop loop;
  FakeBootstrap bootstrap;
  std::unique_ptr<AgentStarts> starts;
  int told = 0;
  const auto destroy = [&](const std::string&, const auto&) {
    ++told;
    starts.reset();
  };
  starts = std::make_unique<AgentStarts>(
      loop, bootstrap, Quick(), [](const std::string&) { return "x"; },
      AgentStartHandlers{.on_agent = destroy,
                         .on_failed = destroy,
                         .on_ended = {},
                         .on_chatter = {}});
  starts->Want({"b"});
  starts->Want({"c"});
  SECTION("when an agent runs") { bootstrap.Greet("b"); }
  SECTION("when a host failed") { bootstrap.End("b", Denied("b")); }
  CHECK(told == 1);
  CHECK(starts == nullptr);
  CHECK(bootstrap.open().empty());
}

}  // namespace hvd
