#include "launcher/agent_starter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <variant>

#include "tests/discovery/pump.h"
#include "tests/support/processes.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

using testing::NoneLeft;
using testing::ReadFile;
using testing::ScopedMark;
using testing::TemporaryDirectory;

// An agent that starts the stand-in for another one, on this machine.
struct Fixture {
  Fixture()
      : starter(
            loop, Options(), [] { return ReadFile(HVD_TEST_AGENT); },
            [this](AgentEvent event) { said.push_back(std::move(event)); }) {}

  RemoteBootstrap::Options Options() {
    RemoteBootstrap::Options options{.keeper_path = HVD_TEST_KEEPER,
                                     .program_version = "1.2.3"};
    options.env = {{"PATH", "/usr/bin:/bin"},
                   {"MARK", mark.text()},
                   {"TMPDIR", directory.path()}};
    return options;
  }
  AgentStartOther Command(std::uint64_t start, const std::string& shell) {
    directory.Write("rsh", "#!/bin/sh\n" + shell + "\n", 0755);
    return {.start = start,
            .host = {"c"},
            .shell = {.command = {directory / "rsh"}},
            .place = {.kind = AgentPlace::Kind::kGiven, .path = HVD_TEST_AGENT},
            .payload = "orders"};
  }
  // The last of what was said, once it is of this kind.
  template <class Event>
  Event Last() {
    const auto is_there = [this] {
      return !said.empty() && std::holds_alternative<Event>(said.back());
    };
    REQUIRE(testing::PumpUntil(loop, is_there, 20s));
    return std::get<Event>(said.back());
  }

  ScopedMark mark;
  TemporaryDirectory directory;
  EventLoop loop;
  std::vector<AgentEvent> said;
  AgentStarter starter;
};

constexpr const char* kLocal = "exec /bin/sh -c \"$2\"";

}  // namespace

TEST_CASE("an agent starts another and says how far it comes", "[launcher]") {
  Fixture f;
  AgentStartOther command = f.Command(7, kLocal);
  SECTION("that is there") {}
  SECTION("that it brings along") {
    command.place = {.kind = AgentPlace::Kind::kInstall};
  }
  f.starter.On(command);
  const auto said = f.Last<AgentOtherSaid>();
  CHECK(said.start == 7);
  CHECK(said.line.starts_with("orders: 6 bytes"));
  REQUIRE(f.said.size() == 3);
  CHECK(f.said[0] == AgentEvent(AgentOtherLogin{7}));
  CHECK(f.said[1] == AgentEvent(AgentOtherGreeted{7, "1.2.3"}));
  f.starter.On(AgentEndOther{7});
  CHECK(NoneLeft(f.mark.text(), 5s));
  CHECK(f.said.size() == 3);  // whoever has asked for it is not told
}

TEST_CASE("an agent says why it cannot start another", "[launcher]") {
  Fixture f;
  SECTION("the host has no agent") {
    AgentStartOther command = f.Command(8, kLocal);
    command.place.path = "/no/agent";
    f.starter.On(command);
    const auto ended = f.Last<AgentOtherEnded>();
    CHECK(ended.start == 8);
    CHECK(ended.phase == StartPhase::kAgentStarts);
    CHECK(ended.again == Again::kHopeless);
    CHECK(ended.reason == "no agent program there");
    CHECK(ended.message.starts_with("host c: agent starts: "));
    CHECK(ended.hint.find("--install-agent") != std::string::npos);
  }
  SECTION("it is not let in") {
    f.starter.On(f.Command(8,
                           "echo 'Permission denied (publickey).' >&2; "
                           "exit 255"));
    const auto ended = f.Last<AgentOtherEnded>();
    CHECK(ended.phase == StartPhase::kAuthenticate);
    CHECK(ended.reason == "Permission denied (publickey)");
  }
  SECTION("it has no such command") {
    AgentStartOther command = f.Command(8, kLocal);
    command.shell.command = {"/no/rsh"};
    f.starter.On(command);
    const auto ended = f.Last<AgentOtherEnded>();
    CHECK(ended.phase == StartPhase::kConnect);
    CHECK(ended.again == Again::kHopeless);
  }
}

TEST_CASE("a host that never stops talking does not fill an agent's connection",
          "[launcher]") {
  Fixture f;
  f.starter.On(f.Command(9, "seq 5000 >&2; exit 3"));
  (void)f.Last<AgentOtherEnded>();
  CHECK(f.said.size() == 1001);
}

}  // namespace hvd
