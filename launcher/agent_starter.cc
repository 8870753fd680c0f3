#include "launcher/agent_starter.h"

#include <utility>

namespace hvd {
namespace {

// Of one start: hvdrun shows no more, and a host that never stops talking must
// not fill the connection.
constexpr int kMostSaid = 1000;

}  // namespace

AgentStarter::AgentStarter(EventLoop& loop, RemoteBootstrap::Options options,
                           std::function<Result<std::string>()> program,
                           std::function<void(AgentEvent)> say)
    : loop_(loop),
      options_(std::move(options)),
      program_(std::move(program)),
      say_(std::move(say)) {}

void AgentStarter::On(const AgentStartOther& command) {
  const std::uint64_t start = command.start;
  const Status prepared = Prepare(command);
  if (!prepared.ok()) {
    const Error& error = prepared.error();
    return say_(AgentOtherEnded{.start = start,
                                .phase = StartPhase::kResolve,
                                .code = error.code(),
                                .message = error.message(),
                                .reason = error.message(),
                                .again = Again::kHopeless});
  }
  attempts_[start].attempt = bootstrap_->Start(
      command.host, [payload = command.payload] { return payload; },
      {.on_chatter =
           [this, start](std::string_view line) {
             if (++attempts_.at(start).said > kMostSaid) return;
             say_(AgentOtherSaid{start, std::string(line)});
           },
       .on_login = [this, start] { say_(AgentOtherLogin{start}); },
       .on_agent =
           [this, start](const std::string& version) {
             say_(AgentOtherGreeted{start, version});
           },
       .on_end =
           [this, start](const BootstrapEnd& end) {
             say_(AgentOtherEnded{.start = start,
                                  .phase = end.phase,
                                  .code = end.error.code(),
                                  .message = end.error.message(),
                                  .hint = end.error.hint(),
                                  .reason = end.reason,
                                  .again = end.again,
                                  .explained = end.explained});
             attempts_.erase(start);
           }});
}

void AgentStarter::On(const AgentEndOther& command) {
  attempts_.erase(command.start);
}

// All hosts of a job are reached the same way.
Status AgentStarter::Prepare(const AgentStartOther& command) {
  if (bootstrap_) return Done{};
  const std::string ssh_config = options_.shell.ssh_config;
  options_.shell = command.shell;
  options_.shell.ssh_config = ssh_config;
  options_.place = command.place;
  if (command.place.kind == AgentPlace::Kind::kInstall) {
    Result<std::string> bytes = program_();
    if (!bytes.ok()) return std::move(bytes).error();
    options_.program =
        std::make_shared<const std::string>(std::move(bytes).value());
  }
  Result<std::unique_ptr<RemoteBootstrap>> made =
      RemoteBootstrap::Make(loop_, options_);
  if (!made.ok()) return std::move(made).error();
  bootstrap_ = std::move(made).value();
  return Done{};
}

}  // namespace hvd
