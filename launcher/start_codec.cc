#include "launcher/start_codec.h"

#include "launcher/agent_greeting.h"

namespace hvd {
namespace {

std::optional<std::uint16_t> Port(std::uint32_t port, WireReader& read) {
  const std::uint16_t given = read.Port(port);
  if (given == 0) return std::nullopt;
  return given;
}

}  // namespace

void Fill(const AgentStartOther& from, agent::StartOther& to) {
  to.set_start(from.start);
  to.set_host(from.host.host);
  to.set_user(from.host.login.user.value_or(""));
  to.set_port(from.host.login.port.value_or(0));
  for (const std::string& word : from.shell.command) to.add_shell(word);
  to.set_shell_port(from.shell.port.value_or(0));
  to.set_identity_file(from.shell.identity_file);
  for (const std::string& word : from.shell.ssh_args) to.add_ssh_args(word);
  to.set_connect_timeout_ms(from.shell.connect_timeout.count());
  to.set_place(static_cast<std::uint32_t>(from.place.kind));
  to.set_agent_path(from.place.path);
  to.set_payload(from.payload);
}

AgentStartOther ReadStartOther(const agent::StartOther& from,
                               WireReader& read) {
  constexpr auto kLastPlace =
      static_cast<std::uint32_t>(AgentPlace::Kind::kInstall);
  AgentStartOther other;
  other.start = from.start();
  read.Check(!from.host().empty(), "host");
  other.host.host = read.Text(from.host());
  if (!from.user().empty()) other.host.login.user = read.Text(from.user());
  other.host.login.port = Port(from.port(), read);
  other.shell.command.assign(from.shell().begin(), from.shell().end());
  other.shell.port = Port(from.shell_port(), read);
  other.shell.identity_file = from.identity_file();
  other.shell.ssh_args.assign(from.ssh_args().begin(), from.ssh_args().end());
  other.shell.connect_timeout = read.Grace(from.connect_timeout_ms());
  read.Check(from.place() <= kLastPlace, "place");
  other.place.kind = static_cast<AgentPlace::Kind>(from.place());
  other.place.path = from.agent_path();
  read.Check(from.payload().size() <= kMaxAgentPayload &&
                 from.payload().find('\n') == std::string::npos,
             "payload");
  other.payload = from.payload();
  return other;
}

void Fill(const AgentOtherEnded& from, agent::OtherEnded& to) {
  to.set_start(from.start);
  to.set_phase(static_cast<std::uint32_t>(from.phase));
  to.set_code(static_cast<std::int32_t>(from.code));
  to.set_message(from.message);
  to.set_hint(from.hint);
  to.set_reason(from.reason);
  to.set_hopeless(from.again == Again::kHopeless);
  to.set_unexplained(!from.explained);
}

AgentOtherEnded ReadOtherEnded(const agent::OtherEnded& from,
                               WireReader& read) {
  constexpr auto kLastPhase =
      static_cast<std::uint32_t>(StartPhase::kInterfaceProof);
  read.Check(from.phase() <= kLastPhase, "phase");
  return {.start = from.start(),
          .phase = static_cast<StartPhase>(from.phase()),
          .code = read.Code(from.code()),
          .message = read.Text(from.message()),
          .hint = read.Text(from.hint()),
          .reason = read.Text(from.reason()),
          .again = from.hopeless() ? Again::kHopeless : Again::kWorthIt,
          .explained = !from.unexplained()};
}

}  // namespace hvd
