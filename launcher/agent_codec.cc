#include "launcher/agent_codec.h"

#include <utility>

#include "base/overloaded.h"
#include "launcher/about_codec.h"
#include "launcher/measure_codec.h"
#include "launcher/start_codec.h"
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

void Fill(const AgentExited& from, agent::Exited& to) {
  to.set_id(Wire(from.id));
  to.set_code(from.status.code);
  to.set_signal(from.status.signal);
  to.set_stdout_bytes(from.stdout_bytes);
  to.set_stderr_bytes(from.stderr_bytes);
}

AgentExited Read(const agent::Exited& from, WireReader& read) {
  read.Check(from.code() >= 0 && from.code() <= 255, "exit code");
  return {read.Id(from.id()),
          {from.code(), read.Signal(from.signal())},
          from.stdout_bytes(),
          from.stderr_bytes()};
}

void Fill(const AgentStartFailed& from, agent::StartFailed& to) {
  to.set_id(Wire(from.id));
  to.set_code(static_cast<std::int32_t>(from.code));
  to.set_message(from.message);
}

AgentStartFailed Read(const agent::StartFailed& from, WireReader& read) {
  return {read.Id(from.id()), read.Code(from.code()),
          read.Text(from.message())};
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
          [&](const AgentStartOther& c) {
            Fill(c, *wire.mutable_start_other());
          },
          [&](const AgentEndOther& c) {
            wire.mutable_end_other()->set_start(c.start);
          },
          [&](const AgentStay&) { wire.mutable_stay(); },
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
    case agent::AgentCommand::kStartOther:
      return read.Finish<AgentCommand>(
          ReadStartOther(wire.start_other(), read));
    case agent::AgentCommand::kEndOther:
      return AgentCommand(AgentEndOther{wire.end_other().start()});
    case agent::AgentCommand::kStay:
      return AgentCommand(AgentStay{});
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
            Fill(e, *wire.mutable_start_failed());
          },
          [&](const AgentExited& e) { Fill(e, *wire.mutable_exited()); },
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
          [&](const AgentOtherLogin& e) {
            wire.mutable_other_login()->set_start(e.start);
          },
          [&](const AgentOtherGreeted& e) {
            wire.mutable_other_greeted()->set_start(e.start);
            wire.mutable_other_greeted()->set_version(e.version);
          },
          [&](const AgentOtherSaid& e) {
            wire.mutable_other_said()->set_start(e.start);
            wire.mutable_other_said()->set_line(e.line);
          },
          [&](const AgentOtherEnded& e) {
            Fill(e, *wire.mutable_other_ended());
          },
          [&](const AgentCutOff&) { wire.mutable_cut_off(); },
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
      return read.Finish<AgentEvent>(ReadAbout(wire.about(), read));
    case agent::AgentEvent::kStarted:
      return read.Finish<AgentEvent>(AgentStarted{
          read.Id(wire.started().id()), read.Pid(wire.started().pid())});
    case agent::AgentEvent::kStartFailed:
      return read.Finish<AgentEvent>(Read(wire.start_failed(), read));
    case agent::AgentEvent::kExited:
      return read.Finish<AgentEvent>(Read(wire.exited(), read));
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
    case agent::AgentEvent::kOtherLogin:
      return AgentEvent(AgentOtherLogin{wire.other_login().start()});
    case agent::AgentEvent::kOtherGreeted:
      return read.Finish<AgentEvent>(
          AgentOtherGreeted{wire.other_greeted().start(),
                            read.Text(wire.other_greeted().version())});
    case agent::AgentEvent::kOtherSaid:
      return read.Finish<AgentEvent>(AgentOtherSaid{
          wire.other_said().start(), read.Text(wire.other_said().line())});
    case agent::AgentEvent::kOtherEnded:
      return read.Finish<AgentEvent>(ReadOtherEnded(wire.other_ended(), read));
    case agent::AgentEvent::kCutOff:
      return AgentEvent(AgentCutOff{});
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
