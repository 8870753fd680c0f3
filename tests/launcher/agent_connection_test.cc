// Both ends of an agent's connection over real gRPC and TLS, on loopback.
#include <atomic>
#include <catch2/catch.hpp>

#include "launcher/agent_client.h"
#include "launcher/remote_library.h"
#include "tests/discovery/pump.h"
#include "tests/support/raw_connection.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

struct Served {
  explicit Served(PortRange ports = {}) {
    auto made = LoadAgentServer(
        HVD_TEST_REMOTE_LIBRARY, {.addresses = {"127.0.0.1"}, .ports = ports},
        {.on_agent =
             [this](const std::string& host, std::unique_ptr<AgentLink> l) {
               agent = host;
               link = std::move(l);
               link->Start({.on_message =
                                [this](AgentEvent e) {
                                  events.push_back(std::move(e));
                                },
                            .on_bytes =
                                [this](WorkerBytes b) {
                                  received += b.bytes.size();
                                  ended = ended || b.end;
                                  if (reading) link->ReadMore();
                                },
                            .on_bytes_sent = [this] { ++input_sent; },
                            .on_closed = [this](Error) { closed = true; }});
             },
         .on_refused = [this](std::string line) { refused.push_back(line); }},
        [this](std::function<void()> fn) { loop.Post(std::move(fn)); });
    INFO((made.ok() ? "" : made.error().message()));
    REQUIRE(made.ok());
    server = std::move(made).value();
  }

  DialOptions Dial(const std::string& token) const {
    return {.endpoints = server->endpoints(),
            .certificate = server->certificate(),
            .host = "b",
            .token = token};
  }

  EventLoop loop;
  std::unique_ptr<AgentServer> server;
  std::string agent;
  std::unique_ptr<AgentLink> link;  // ends before the server
  std::vector<AgentEvent> events;
  std::size_t received = 0;
  bool reading = true;
  bool ended = false;
  int input_sent = 0;
  bool closed = false;
  std::vector<std::string> refused;
};

struct Agent {
  Agent(EventLoop& loop, DialOptions options) {
    client = AgentClient::Dial(
        loop, std::move(options), [this](Result<DialedHvdrun> dialed) {
          if (!dialed.ok()) {
            failed = dialed.error();
            return;
          }
          endpoint = dialed.value().endpoint;
          uplink = std::move(dialed.value().uplink);
          uplink->Start(
              {.on_message =
                   [this](AgentCommand c) { commands.push_back(std::move(c)); },
               .on_bytes =
                   [this](WorkerBytes b) {
                     input += b.bytes;
                     uplink->ReadMore();
                   },
               .on_bytes_sent = [this] { ++sent; },
               .on_closed = [this](Error) { closed = true; }});
          uplink->ReadMore();
        });
  }

  std::unique_ptr<AgentClient> client;
  std::unique_ptr<AgentUplink> uplink;
  AgentEndpoint endpoint;
  std::vector<AgentCommand> commands;
  std::string input;
  int sent = 0;
  bool closed = false;
  std::optional<Error> failed;
};

bool Until(EventLoop& loop, const std::function<bool()>& done) {
  return loop.RunUntil(done, 20s);
}

}  // namespace

TEST_CASE("messages and bytes go both ways between hvdrun and an agent",
          "[agent]") {
  Served t;
  t.server->Expect("b", std::string("\0\xff secret", 9));
  Agent agent(t.loop, t.Dial(std::string("\0\xff secret", 9)));
  REQUIRE(Until(t.loop, [&] { return t.link && agent.uplink; }));
  CHECK(t.agent == "b");
  CHECK(agent.endpoint == t.server->endpoints().front());

  agent.uplink->Send(AgentStarted{LaunchId{7}, 4711});
  const AgentLaunch launch{LaunchId{7},
                           {"prog", "a b", "\xff"},
                           {{"NAME", std::string(3'000'000, 'v')}},
                           "/tmp",
                           true};
  t.link->Send(launch);
  t.link->SendBytes({{LaunchId{7}, 0}, "input", true});
  t.link->ReadMore();
  agent.uplink->SendBytes({{LaunchId{7}, 1}, "output", false});
  agent.uplink->SendBytes({{LaunchId{7}, 1}, "", true});
  REQUIRE(Until(t.loop, [&] {
    return !t.events.empty() && !agent.commands.empty() && t.ended &&
           agent.input == "input" && agent.sent == 2 && t.input_sent == 1;
  }));
  CHECK(t.events.front() == AgentEvent(AgentStarted{LaunchId{7}, 4711}));
  CHECK(agent.commands.front() == AgentCommand(launch));
  CHECK(t.received == 6);
}

TEST_CASE("an agent with a wrong token is not let in", "[agent]") {
  Served t;
  t.server->Expect("b", "right");
  Agent wrong(t.loop, t.Dial("wrong"));
  REQUIRE(Until(t.loop, [&] { return wrong.closed && !t.refused.empty(); }));
  CHECK(t.refused.front().find("is no agent that this job waits for") !=
        std::string::npos);
  Agent right(t.loop, t.Dial("right"));
  CHECK(Until(t.loop, [&] { return t.link != nullptr; }));
}

TEST_CASE("a token is good for one agent", "[agent]") {
  Served t;
  t.server->Expect("b", "token");
  Agent first(t.loop, t.Dial("token"));
  REQUIRE(Until(t.loop, [&] { return t.link != nullptr; }));
  Agent second(t.loop, t.Dial("token"));
  CHECK(Until(t.loop, [&] { return second.closed; }));
  CHECK_FALSE(first.closed);
}

TEST_CASE("an agent does not talk to who has another certificate", "[agent]") {
  Served real;
  Served impostor;
  DialOptions options = impostor.Dial("token");
  options.certificate = real.server->certificate();
  options.limit = Duration{1'000};
  Agent agent(impostor.loop, options);
  REQUIRE(Until(impostor.loop, [&] { return agent.failed.has_value(); }));
  CHECK(agent.failed->code() == ErrorCode::kTimeout);
  CHECK(impostor.refused.empty());
}

TEST_CASE("an agent finds hvdrun though most of its addresses lead nowhere",
          "[agent]") {
  Served t;
  t.server->Expect("b", "token");
  DialOptions options = t.Dial("token");
  // Refused at once; never answered.
  options.endpoints.insert(options.endpoints.begin(),
                           {{"127.0.0.1", 9}, {"192.0.2.1", 9}});
  Agent agent(t.loop, options);
  REQUIRE(Until(t.loop, [&] { return t.link != nullptr; }));
  CHECK(agent.endpoint == t.server->endpoints().front());
}

TEST_CASE("an agent that finds no hvdrun names all it has tried", "[agent]") {
  EventLoop loop;
  Served t;
  DialOptions options = t.Dial("token");
  options.endpoints = {{"127.0.0.1", 9}, {"::1", 9}};
  options.limit = Duration{500};
  Agent agent(t.loop, options);
  REQUIRE(Until(t.loop, [&] { return agent.failed.has_value(); }));
  CHECK(agent.failed->message() ==
        "hvdrun cannot be reached from here at 127.0.0.1:9, [::1]:9 within "
        "0.5 s");
}

TEST_CASE("output that is not taken waits at the agent", "[agent]") {
  Served t;
  t.reading = false;
  t.server->Expect("b", "token");
  Agent agent(t.loop, t.Dial("token"));
  REQUIRE(Until(t.loop, [&] { return t.link && agent.uplink; }));
  const std::string piece(64 << 10, 'x');
  constexpr int kMany = 2000;  // 128 MB
  int given = 0;
  const auto give = [&] {
    for (; given < kMany && given < agent.sent + 8; ++given) {
      agent.uplink->SendBytes({{LaunchId{1}, 1}, piece, false});
    }
  };
  // Messages pass all the same.
  t.loop.RunUntil(
      [&] {
        give();
        return false;
      },
      500ms);
  CHECK(agent.sent < 200);
  CHECK(t.received == 0);
  agent.uplink->Send(AgentExited{LaunchId{1}, {}, 5, 6});
  REQUIRE(Until(t.loop, [&] { return !t.events.empty(); }));
  CHECK(t.events.front() == AgentEvent(AgentExited{LaunchId{1}, {}, 5, 6}));
  // And all of it comes once it is wanted.
  t.reading = true;
  t.link->ReadMore();
  REQUIRE(Until(t.loop, [&] {
    give();
    return t.received == kMany * piece.size();
  }));
}

TEST_CASE("each end learns that the other is gone", "[agent]") {
  Served t;
  t.server->Expect("b", "token");
  auto agent = std::make_unique<Agent>(t.loop, t.Dial("token"));
  REQUIRE(Until(t.loop, [&] { return t.link && agent->uplink; }));
  SECTION("the agent") {
    agent.reset();
    CHECK(Until(t.loop, [&] { return t.closed; }));
  }
  SECTION("hvdrun") {
    t.link.reset();
    CHECK(Until(t.loop, [&] { return agent->closed; }));
  }
  SECTION("hvdrun, after a last word") {
    t.link->Finish(AgentFarewell{});
    t.link.reset();
    CHECK(Until(t.loop, [&] { return agent->closed; }));
    REQUIRE_FALSE(agent->commands.empty());
    CHECK(agent->commands.back() == AgentCommand(AgentFarewell{}));
  }
}

TEST_CASE("two jobs never share an agent port", "[agent]") {
  Served first;
  const std::uint16_t port = first.server->endpoints().front().port;
  auto second = LoadAgentServer(
      HVD_TEST_REMOTE_LIBRARY,
      {.addresses = {"127.0.0.1"}, .ports = {port, port}},
      {.on_agent = [](const std::string&, std::unique_ptr<AgentLink>) {},
       .on_refused = [](const std::string&) {}},
      [&](std::function<void()> fn) { first.loop.Post(std::move(fn)); });
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message() ==
        "no port for the agents to dial is free on 127.0.0.1 within "
        "--port-range " +
            std::to_string(port));
}

TEST_CASE("a library that is not there is named", "[agent]") {
  auto none = LoadAgentServer("/no/such/library.so", {}, {}, {});
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().message().find("/no/such/library.so") !=
        std::string::npos);
}

TEST_CASE("a server ends though an agent has come whom nobody has looked at",
          "[agent]") {
  std::atomic<int> posted = 0;
  auto made = LoadAgentServer(
      HVD_TEST_REMOTE_LIBRARY, {.addresses = {"127.0.0.1"}},
      {.on_agent = [](const std::string&, std::unique_ptr<AgentLink>) {},
       .on_refused = [](const std::string&) {}},
      [&](const std::function<void()>&) { ++posted; });  // never run
  REQUIRE(made.ok());
  made.value()->Expect("b", "t");
  EventLoop loop;
  Agent agent(loop, {.endpoints = made.value()->endpoints(),
                     .certificate = made.value()->certificate(),
                     .host = "b",
                     .token = "t"});
  REQUIRE(testing::PumpUntil(
      loop, [&] { return posted >= 2; }, 20s));
  made = std::unique_ptr<AgentServer>();
  CHECK(Until(loop, [&] { return agent.closed; }));
}

}  // namespace hvd
