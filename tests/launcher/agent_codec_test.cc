#include "launcher/agent_codec.h"

#include <catch2/catch.hpp>

namespace hvd {
namespace {

template <class Message>
Message ThroughTheWire(const Message& message) {
  auto wire = ToWire(message);
  std::string bytes = wire.SerializeAsString();
  decltype(wire) read;
  REQUIRE(read.ParseFromString(bytes));
  Result<Message> back = FromWire(read);
  REQUIRE(back.ok());
  return std::move(back).value();
}

}  // namespace

TEST_CASE("every command arrives as it was sent", "[agent]") {
  const std::vector<AgentCommand> commands = {
      AgentLaunch{
          LaunchId{3}, {"a", "\xff b", ""}, {{"N", "v=\n"}}, "/d", true},
      AgentSignal{LaunchId{3}, 10},
      AgentStop{LaunchId{3}, 15, Duration{1500}},
      AgentStopLeftovers{Duration{10}},
      AgentProbe{{{"10.0.0.1", 4000, "id"}, {"fd77::1", 1, ""}}, 77},
      AgentStartOther{.start = 9,
                      .host = {"c", {.user = "ann", .port = 22}},
                      .shell = {.command = {"rsh", "-v"},
                                .port = 2222,
                                .identity_file = "/k",
                                .ssh_args = {"-o", "A b"},
                                .connect_timeout = Duration{3'000}},
                      .place = {.kind = AgentPlace::Kind::kGiven, .path = "/a"},
                      .payload = "orders"},
      AgentStartOther{
          .start = 0, .host = {"c"}, .shell = {}, .place = {}, .payload = ""},
      AgentEndOther{9},
      AgentStay{},
      AgentRest{},
      AgentAlive{},
      AgentFarewell{},
      AgentAskTime{7},
      AgentMeasure{8, {"10.0.0.1", 4000, "id"}},
      TunnelPiece{9, std::string("\0\xff", 2), true},
      TunnelTaken{1ULL << 40U}};
  CHECK(commands.size() == std::variant_size_v<AgentCommand> + 1);
  for (const AgentCommand& command : commands) {
    CHECK(ThroughTheWire(command) == command);
  }
}

TEST_CASE("every event arrives as it was sent", "[agent]") {
  const Interface eth0{.name = "eth0",
                       .index = 2,
                       .up = true,
                       .running = true,
                       .addresses = {{"10.0.0.2", 24}, {"fd77::2", 64}}};
  const std::vector<AgentEvent> events = {
      AgentAbout{
          .version = "0.1",
          .host_name = "b",
          .pid = 17,
          .unix_ms = -5,
          .hvdrun_address = "10.0.0.1",
          .master_port = 1,
          .identity = "abc",
          .probe_port = 65535,
          .interfaces = {eth0,
                         {.name = "lo", .loopback = true, .addresses = {}}},
          .default_route = "eth0",
          .system = "Linux 6 x86_64",
          .store_port = 4711},
      AgentStarted{LaunchId{1}, 5},
      AgentStartFailed{LaunchId{1}, ErrorCode::kNotFound, "no"},
      AgentExited{LaunchId{1}, {3, 0}, 1ULL << 40U, 2},
      AgentExited{LaunchId{1}, {0, 9}, 0, 0},
      AgentStuck{LaunchId{1}, 5},
      AgentStopped{LaunchId{1}},
      AgentInputClosed{LaunchId{1}},
      AgentLeftoversStopped{},
      AgentProbed{4,
                  {.kind = ProbeResult::Kind::kOtherHost,
                   .answered_as = "x",
                   .local_address = "10.0.0.2",
                   .round_trip = std::chrono::microseconds{12},
                   .failure = "why"}},
      AgentOtherLogin{9},
      AgentOtherGreeted{9, "0.1"},
      AgentOtherSaid{9, "Welcome to \xff"},
      AgentOtherEnded{.start = 9,
                      .phase = StartPhase::kAuthenticate,
                      .code = ErrorCode::kUnavailable,
                      .message = "m",
                      .hint = "h",
                      .reason = "r",
                      .again = Again::kHopeless,
                      .explained = false},
      AgentCutOff{},
      AgentResting{},
      AgentAlive{},
      AgentBroken{"why"},
      AgentTime{7, 1'700'000'000'000'000},
      AgentMeasured{8,
                    {.least_round_trip = std::chrono::microseconds{1},
                     .median_round_trip = std::chrono::microseconds{2},
                     .load_bytes = 1ULL << 40U,
                     .load_time = std::chrono::microseconds{3},
                     .failure = "why"}},
      TunnelPiece{1, "bytes", false},
      TunnelTaken{1},
      AgentRefused{"why"}};
  CHECK(events.size() == std::variant_size_v<AgentEvent> + 1);
  for (const AgentEvent& event : events) {
    CHECK(ThroughTheWire(event) == event);
  }
}

TEST_CASE("what cannot be meant is refused", "[agent]") {
  agent::AgentCommand command;
  CHECK_FALSE(FromWire(command).ok());
  command.mutable_launch()->set_id(1);
  CHECK_FALSE(FromWire(command).ok());  // no command to launch
  command.mutable_signal()->set_id(1ULL << 40U);
  CHECK_FALSE(FromWire(command).ok());
  command.mutable_signal()->set_id(1);
  command.mutable_signal()->set_signo(65);
  CHECK_FALSE(FromWire(command).ok());
  command.mutable_stop()->set_grace_ms(-1);
  CHECK_FALSE(FromWire(command).ok());
  command.mutable_measure()->mutable_target()->set_port(65536);
  CHECK_FALSE(FromWire(command).ok());

  command.mutable_start_other()->set_host("c");
  command.mutable_start_other()->set_place(3);
  CHECK_FALSE(FromWire(command).ok());
  command.mutable_start_other()->set_place(1);
  CHECK(FromWire(command).ok());
  command.mutable_start_other()->set_payload("two\nlines");
  CHECK_FALSE(FromWire(command).ok());

  agent::AgentEvent event;
  CHECK_FALSE(FromWire(event).ok());
  event.mutable_exited()->set_code(256);
  CHECK_FALSE(FromWire(event).ok());
  event.mutable_start_failed()->set_code(99);
  CHECK_FALSE(FromWire(event).ok());
  event.mutable_about()->set_probe_port(65536);
  CHECK_FALSE(FromWire(event).ok());
  event.mutable_other_ended()->set_phase(6);
  CHECK_FALSE(FromWire(event).ok());
  event.mutable_probed()->set_kind(4);
  CHECK_FALSE(FromWire(event).ok());
  event.mutable_time()->set_unix_us(-1);
  CHECK_FALSE(FromWire(event).ok());
  event.mutable_measured()->set_load_time_us(-1);
  CHECK_FALSE(FromWire(event).ok());

  agent::WorkerBytes bytes;
  bytes.set_fd(3);
  CHECK_FALSE(FromWire(std::move(bytes)).ok());
}

}  // namespace hvd
