#include "launcher/agent_codec.h"

#include <utility>

#include "base/overloaded.h"
#include "launcher/measure_codec.h"
#include "launcher/wire_reader.h"

namespace hvd {
namespace {

void Fill(const AgentLaunch& from, agent::Launch& to) {
  to.set_id(Wire(from.id));
  for (const std::string& word : from.argv) to.add_argv(word);
  for (const auto& [name, value] : from.env) {
    agent::Variable& variable = *to.add_env();
    variable.set_name(name);
    variable.set_value(value);
  }
  to.set_cwd(from.cwd);
  to.set_has_input(from.has_input);
}

AgentLaunch Read(const agent::Launch& from, WireReader& read) {
  AgentLaunch launch;
  launch.id = read.Id(from.id());
  read.Check(from.argv_size() > 0, "command");
  launch.argv.assign(from.argv().begin(), from.argv().end());
  for (const agent::Variable& variable : from.env()) {
    launch.env.emplace_back(variable.name(), variable.value());
  }
  launch.cwd = from.cwd();
  launch.has_input = from.has_input();
  return launch;
}

void Fill(const AgentProbe& from, agent::Probe& to) {
  to.set_first(from.first);
  for (const ProbeTarget& target : from.targets) {
    agent::ProbeTarget& added = *to.add_targets();
    added.set_address(target.address);
    added.set_port(target.port);
    added.set_identity(target.identity);
  }
}

AgentProbe Read(const agent::Probe& from, WireReader& read) {
  AgentProbe probe;
  probe.first = from.first();
  for (const agent::ProbeTarget& target : from.targets()) {
    probe.targets.push_back({read.Text(target.address()),
                             read.Port(target.port()),
                             read.Text(target.identity())});
  }
  return probe;
}

void Fill(const AgentProbed& from, agent::Probed& to) {
  to.set_number(from.number);
  to.set_kind(static_cast<std::uint32_t>(from.result.kind));
  to.set_answered_as(from.result.answered_as);
  to.set_local_address(from.result.local_address);
  to.set_round_trip_us(from.result.round_trip.count());
  to.set_failure(from.result.failure);
}

AgentProbed Read(const agent::Probed& from, WireReader& read) {
  constexpr auto kLast =
      static_cast<std::uint32_t>(ProbeResult::Kind::kUnreached);
  read.Check(from.kind() <= kLast, "probe");
  return {from.number(),
          {.kind = static_cast<ProbeResult::Kind>(from.kind()),
           .answered_as = read.Text(from.answered_as()),
           .local_address = read.Text(from.local_address()),
           .round_trip = std::chrono::microseconds(from.round_trip_us()),
           .failure = read.Text(from.failure())}};
}

void Fill(const TunnelPiece& from, agent::TunnelPiece& to) {
  to.set_connection(from.connection);
  to.set_bytes(from.bytes);
  to.set_end(from.end);
}

TunnelPiece ReadPiece(const agent::TunnelPiece& from) {
  return {from.connection(), from.bytes(), from.end()};
}

void Fill(const Interface& from, agent::Interface& to) {
  to.set_name(from.name);
  to.set_index(static_cast<std::uint32_t>(from.index));
  to.set_up(from.up);
  to.set_running(from.running);
  to.set_loopback(from.loopback);
  to.set_point_to_point(from.point_to_point);
  to.set_bridge(from.bridge);
  for (const InterfaceAddress& address : from.addresses) {
    agent::InterfaceAddress& added = *to.add_addresses();
    added.set_address(address.address);
    added.set_prefix_length(static_cast<std::uint32_t>(address.prefix_length));
  }
}

Interface Read(const agent::Interface& from, WireReader& read) {
  Interface interface {
    .name = read.Text(from.name()), .index = read.Small(from.index()),
    .up = from.up(), .running = from.running(), .loopback = from.loopback(),
    .point_to_point = from.point_to_point(), .bridge = from.bridge(),
    .addresses = {}
  };
  for (const agent::InterfaceAddress& address : from.addresses()) {
    interface.addresses.push_back(
        {read.Text(address.address()), read.Small(address.prefix_length())});
  }
  return interface;
}

void Fill(const AgentAbout& from, agent::About& to) {
  to.set_version(from.version);
  to.set_host_name(from.host_name);
  to.set_pid(from.pid);
  to.set_unix_ms(from.unix_ms);
  to.set_hvdrun_address(from.hvdrun_address);
  to.set_master_port(from.master_port);
  to.set_identity(from.identity);
  to.set_probe_port(from.probe_port);
  for (const Interface& interface : from.interfaces) {
    Fill(interface, *to.add_interfaces());
  }
  to.set_default_route(from.default_route);
  to.set_system(from.system);
  to.set_store_port(from.store_port);
}

AgentAbout Read(const agent::About& from, WireReader& read) {
  AgentAbout about{.version = read.Text(from.version()),
                   .host_name = read.Text(from.host_name()),
                   .pid = read.Pid(from.pid()),
                   .unix_ms = from.unix_ms(),
                   .hvdrun_address = read.Text(from.hvdrun_address()),
                   .master_port = read.Port(from.master_port()),
                   .identity = read.Text(from.identity()),
                   .probe_port = read.Port(from.probe_port()),
                   .interfaces = {},
                   .default_route = read.Text(from.default_route()),
                   .system = read.Text(from.system()),
                   .store_port = read.Port(from.store_port())};
  for (const agent::Interface& interface : from.interfaces()) {
    about.interfaces.push_back(Read(interface, read));
  }
  return about;
}

}  // namespace

agent::AgentCommand ToWire(const AgentCommand& command) {
  agent::AgentCommand wire;
  std::visit(
      Overloaded{
          [&](const AgentLaunch& c) { Fill(c, *wire.mutable_launch()); },
          [&](const AgentSignal& c) {
            wire.mutable_signal()->set_id(Wire(c.id));
            wire.mutable_signal()->set_signo(c.signo);
          },
          [&](const AgentStop& c) {
            wire.mutable_stop()->set_id(Wire(c.id));
            wire.mutable_stop()->set_first_signal(c.first_signal);
            wire.mutable_stop()->set_grace_ms(c.grace.count());
          },
          [&](const AgentStopLeftovers& c) {
            wire.mutable_stop_leftovers()->set_grace_ms(c.grace.count());
          },
          [&](const AgentProbe& c) { Fill(c, *wire.mutable_probe()); },
          [&](const AgentRest&) { wire.mutable_rest(); },
          [&](const AgentAlive&) { wire.mutable_alive(); },
          [&](const AgentFarewell&) { wire.mutable_farewell(); },
          [&](const AgentAskTime& c) {
            wire.mutable_ask_time()->set_number(c.number);
          },
          [&](const AgentMeasure& c) { Fill(c, *wire.mutable_measure()); },
          [&](const TunnelPiece& c) { Fill(c, *wire.mutable_tunnel_piece()); },
          [&](const TunnelTaken& c) {
            wire.mutable_tunnel_taken()->set_connection(c.connection);
          }},
      command);
  return wire;
}

Result<AgentCommand> FromWire(const agent::AgentCommand& wire) {
  WireReader read;
  switch (wire.kind_case()) {
    case agent::AgentCommand::kLaunch:
      return read.Finish<AgentCommand>(Read(wire.launch(), read));
    case agent::AgentCommand::kSignal: {
      const agent::Signal& c = wire.signal();
      return read.Finish<AgentCommand>(
          AgentSignal{read.Id(c.id()), read.Signal(c.signo())});
    }
    case agent::AgentCommand::kStop: {
      const agent::Stop& c = wire.stop();
      return read.Finish<AgentCommand>(AgentStop{read.Id(c.id()),
                                                 read.Signal(c.first_signal()),
                                                 read.Grace(c.grace_ms())});
    }
    case agent::AgentCommand::kStopLeftovers:
      return read.Finish<AgentCommand>(
          AgentStopLeftovers{read.Grace(wire.stop_leftovers().grace_ms())});
    case agent::AgentCommand::kProbe:
      return read.Finish<AgentCommand>(Read(wire.probe(), read));
    case agent::AgentCommand::kRest:
      return AgentCommand(AgentRest{});
    case agent::AgentCommand::kAlive:
      return AgentCommand(AgentAlive{});
    case agent::AgentCommand::kFarewell:
      return AgentCommand(AgentFarewell{});
    case agent::AgentCommand::kAskTime:
      return AgentCommand(AgentAskTime{wire.ask_time().number()});
    case agent::AgentCommand::kMeasure:
      return read.Finish<AgentCommand>(ReadMeasure(wire.measure(), read));
    case agent::AgentCommand::kTunnelPiece:
      return read.Finish<AgentCommand>(ReadPiece(wire.tunnel_piece()));
    case agent::AgentCommand::kTunnelTaken:
      return AgentCommand(TunnelTaken{wire.tunnel_taken().connection()});
    case agent::AgentCommand::KIND_NOT_SET:
      break;
  }
  return Refuse("command");
}

agent::AgentEvent ToWire(const AgentEvent& event) {
  agent::AgentEvent wire;
  std::visit(
      Overloaded{
          [&](const AgentAbout& e) { Fill(e, *wire.mutable_about()); },
          [&](const AgentStarted& e) {
            wire.mutable_started()->set_id(Wire(e.id));
            wire.mutable_started()->set_pid(e.pid);
          },
          [&](const AgentStartFailed& e) {
            agent::StartFailed& failed = *wire.mutable_start_failed();
            failed.set_id(Wire(e.id));
            failed.set_code(static_cast<std::int32_t>(e.code));
            failed.set_message(e.message);
          },
          [&](const AgentExited& e) {
            agent::Exited& exited = *wire.mutable_exited();
            exited.set_id(Wire(e.id));
            exited.set_code(e.status.code);
            exited.set_signal(e.status.signal);
            exited.set_stdout_bytes(e.stdout_bytes);
            exited.set_stderr_bytes(e.stderr_bytes);
          },
          [&](const AgentStuck& e) {
            wire.mutable_stuck()->set_id(Wire(e.id));
            wire.mutable_stuck()->set_pid(e.pid);
          },
          [&](const AgentStopped& e) {
            wire.mutable_stopped()->set_id(Wire(e.id));
          },
          [&](const AgentInputClosed& e) {
            wire.mutable_input_closed()->set_id(Wire(e.id));
          },
          [&](const AgentLeftoversStopped&) {
            wire.mutable_leftovers_stopped();
          },
          [&](const AgentProbed& e) { Fill(e, *wire.mutable_probed()); },
          [&](const AgentResting&) { wire.mutable_resting(); },
          [&](const AgentAlive&) { wire.mutable_alive(); },
          [&](const AgentBroken& e) {
            wire.mutable_broken()->set_message(e.message);
          },
          [&](const AgentTime& e) { Fill(e, *wire.mutable_time()); },
          [&](const AgentMeasured& e) { Fill(e, *wire.mutable_measured()); },
          [&](const TunnelPiece& e) { Fill(e, *wire.mutable_tunnel_piece()); },
          [&](const TunnelTaken& e) {
            wire.mutable_tunnel_taken()->set_connection(e.connection);
          },
          [&](const AgentRefused& e) {
            wire.mutable_refused()->set_why(e.why);
          }},
      event);
  return wire;
}

Result<AgentEvent> FromWire(const agent::AgentEvent& wire) {
  WireReader read;
  switch (wire.kind_case()) {
    case agent::AgentEvent::kAbout:
      return read.Finish<AgentEvent>(Read(wire.about(), read));
    case agent::AgentEvent::kStarted:
      return read.Finish<AgentEvent>(AgentStarted{
          read.Id(wire.started().id()), read.Pid(wire.started().pid())});
    case agent::AgentEvent::kStartFailed: {
      const agent::StartFailed& e = wire.start_failed();
      return read.Finish<AgentEvent>(AgentStartFailed{
          read.Id(e.id()), read.Code(e.code()), read.Text(e.message())});
    }
    case agent::AgentEvent::kExited: {
      const agent::Exited& e = wire.exited();
      read.Check(e.code() >= 0 && e.code() <= 255, "exit code");
      return read.Finish<AgentEvent>(AgentExited{
          read.Id(e.id()), ExitStatus{e.code(), read.Signal(e.signal())},
          e.stdout_bytes(), e.stderr_bytes()});
    }
    case agent::AgentEvent::kStuck:
      return read.Finish<AgentEvent>(
          AgentStuck{read.Id(wire.stuck().id()), read.Pid(wire.stuck().pid())});
    case agent::AgentEvent::kStopped:
      return read.Finish<AgentEvent>(
          AgentStopped{read.Id(wire.stopped().id())});
    case agent::AgentEvent::kInputClosed:
      return read.Finish<AgentEvent>(
          AgentInputClosed{read.Id(wire.input_closed().id())});
    case agent::AgentEvent::kLeftoversStopped:
      return AgentEvent(AgentLeftoversStopped{});
    case agent::AgentEvent::kProbed:
      return read.Finish<AgentEvent>(Read(wire.probed(), read));
    case agent::AgentEvent::kResting:
      return AgentEvent(AgentResting{});
    case agent::AgentEvent::kAlive:
      return AgentEvent(AgentAlive{});
    case agent::AgentEvent::kBroken:
      return read.Finish<AgentEvent>(
          AgentBroken{read.Text(wire.broken().message())});
    case agent::AgentEvent::kTime:
      return read.Finish<AgentEvent>(ReadTime(wire.time(), read));
    case agent::AgentEvent::kMeasured:
      return read.Finish<AgentEvent>(ReadMeasured(wire.measured(), read));
    case agent::AgentEvent::kTunnelPiece:
      return read.Finish<AgentEvent>(ReadPiece(wire.tunnel_piece()));
    case agent::AgentEvent::kTunnelTaken:
      return AgentEvent(TunnelTaken{wire.tunnel_taken().connection()});
    case agent::AgentEvent::kRefused:
      return read.Finish<AgentEvent>(
          AgentRefused{read.Text(wire.refused().why())});
    case agent::AgentEvent::KIND_NOT_SET:
      break;
  }
  return Refuse("event");
}

agent::WorkerBytes ToWire(WorkerBytes bytes) {
  agent::WorkerBytes wire;
  wire.set_id(Wire(bytes.stream.id));
  wire.set_fd(static_cast<std::uint32_t>(bytes.stream.fd));
  wire.set_bytes(std::move(bytes.bytes));
  wire.set_end(bytes.end);
  return wire;
}

Result<WorkerBytes> FromWire(agent::WorkerBytes&& wire) {
  WireReader read;
  read.Check(wire.fd() <= 2, "stream");
  WorkerBytes bytes{{read.Id(wire.id()), static_cast<int>(wire.fd())},
                    std::move(*wire.mutable_bytes()),
                    wire.end()};
  return read.Finish(std::move(bytes));
}

}  // namespace hvd
