#include "launcher/remote_attempt.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "base/one_line.h"
#include "base/pipe.h"

namespace hvd {
namespace {

// Enough for what ssh says about a host key that has changed.
constexpr std::size_t kMostSaid = 16;

std::vector<std::string> Joined(const std::deque<std::string>& first,
                                const std::deque<std::string>& second) {
  std::vector<std::string> all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

}  // namespace

RemoteAttempt::RemoteAttempt(EventLoop& loop, Plan plan, Pipes pipes,
                             BootstrapHandlers handlers,
                             std::function<void()> kill)
    : loop_(loop),
      plan_(std::move(plan)),
      handlers_(std::move(handlers)),
      kill_(std::move(kill)),
      stdout_(std::move(pipes.from_stdout)),
      stderr_(std::move(pipes.from_stderr)),
      stdin_(loop_, std::move(pipes.to_stdin)),
      out_watch_(loop_.OnReadable(stdout_.get(), [this] { OnStdout(); })),
      err_watch_(loop_.OnReadable(stderr_.get(), [this] { OnStderr(); })) {}

RemoteAttempt::~RemoteAttempt() {
  if (kill_) kill_();
}

template <class Handler, class... Args>
bool RemoteAttempt::Tell(const Handler& handler, const Args&... args) {
  if (!handler) return true;
  const std::weak_ptr<int> alive = alive_;
  const Handler kept = handler;
  kept(args...);
  return !alive.expired();
}

void RemoteAttempt::OnStdout() {
  std::string bytes;
  const PipeRead read =
      ReadOnce(stdout_.get(), [&](std::string_view some) { bytes = some; });
  if (read == PipeRead::kEnd) out_watch_.reset();
  (void)Hear(bytes);
}

void RemoteAttempt::OnStderr() {
  std::string bytes;
  const PipeRead read =
      ReadOnce(stderr_.get(), [&](std::string_view some) { bytes = some; });
  if (read == PipeRead::kEnd) err_watch_.reset();
  (void)HearErrors(bytes);
}

bool RemoteAttempt::Hear(std::string_view bytes) {
  for (const std::string& line : scan_.Feed(bytes)) {
    if (!Chat(line, said_out_)) return false;
  }
  if (reached_ == Reached::kNothing && scan_.logged_in()) {
    reached_ = Reached::kLogin;
    if (plan_.program) stdin_.Send(plan_.program);
    if (!Tell(handlers_.on_login)) return false;
  }
  if (reached_ == Reached::kLogin && scan_.greeting()) return OnGreeting();
  if (!scan_.too_much()) return true;
  GiveUp({.phase = StartPhase::kAgentStarts,
          .again = Again::kHopeless,
          .text = "more than 256 KiB came before the agent's greeting",
          .reason = "too much output before the agent's greeting",
          .remedy = "see what the login shell prints there",
          .explained = false});
  return false;
}

bool RemoteAttempt::OnGreeting() {
  const AgentGreeting greeting = *scan_.greeting();
  if (greeting.protocol != kAgentProtocol) {
    GiveUp({.phase = StartPhase::kAgentStarts,
            .again = Again::kHopeless,
            .text = Describe(plan_.place) + " is of hvdrun " +
                    greeting.program_version + " and speaks protocol " +
                    std::to_string(greeting.protocol) + ", this is hvdrun " +
                    plan_.program_version + " with protocol " +
                    std::to_string(kAgentProtocol),
            .reason = "its agent is of another version",
            .remedy = "install the same hvdrun there, name the right one with "
                      "--agent-path, or let --install-agent bring it along"});
    return false;
  }
  reached_ = Reached::kAgent;
  said_out_.clear();
  said_err_.clear();
  const std::string payload = std::exchange(plan_.make_payload, {})();
  HVD_CHECK(payload.size() <= kMaxAgentPayload &&
            payload.find('\n') == std::string::npos);
  stdin_.Send(std::make_shared<const std::string>(payload + '\n'));
  return Tell(handlers_.on_agent, greeting.program_version);
}

bool RemoteAttempt::HearErrors(std::string_view bytes) {
  error_bytes_ += bytes.size();
  std::vector<std::string> lines;
  errors_.Feed(bytes,
               [&](std::string_view head, std::string_view body, PieceEnd) {
                 lines.push_back(std::string(head) + std::string(body));
               });
  for (const std::string& line : lines) {
    if (!Chat(line, said_err_)) return false;
  }
  if (reached_ == Reached::kAgent || error_bytes_ <= kMostBeforeGreeting) {
    return true;
  }
  GiveUp({.phase = StartPhase::kConnect,
          .again = Again::kHopeless,
          .text = "more than 256 KiB of messages came before the agent's "
                  "greeting",
          .reason = "too many messages before the agent's greeting",
          .explained = false});
  return false;
}

bool RemoteAttempt::Chat(std::string_view line, std::deque<std::string>& said) {
  while (line.ends_with('\n') || line.ends_with('\r') || line.ends_with(' ')) {
    line.remove_suffix(1);
  }
  if (line.empty()) return true;
  said.push_back(OneLine(line));
  if (said.size() > kMostSaid) said.pop_front();
  const std::string kept = said.back();
  return Tell(handlers_.on_chatter, kept);
}

void RemoteAttempt::OnExit(ExitStatus status) {
  kill_ = nullptr;
  // What it has left may hold the pipes open for as long as it likes.
  std::string out;
  DrainPipe(stdout_.get(), [&](std::string_view bytes) { out += bytes; });
  if (!Hear(out)) return;
  std::string err;
  DrainPipe(stderr_.get(), [&](std::string_view bytes) { err += bytes; });
  if (!HearErrors(err)) return;
  std::string rest;
  errors_.Show([&](std::string_view head, std::string_view body, PieceEnd) {
    rest = std::string(head) + std::string(body);
  });
  if (!Chat(scan_.Rest(), said_out_) || !Chat(rest, said_err_)) return;
  End(JudgeRemoteEnd({.is_ssh = plan_.is_ssh,
                      .reached = reached_,
                      .status = status,
                      .said = Joined(said_out_, said_err_)},
                     plan_.place, plan_.host));
}

void RemoteAttempt::OnNoStart(const Error& why) {
  kill_ = nullptr;
  const bool later = why.code() == ErrorCode::kUnavailable;
  End({.phase = StartPhase::kConnect,
       .again = later ? Again::kWorthIt : Again::kHopeless,
       .text = why.message(),
       .reason = why.message(),
       .remedy = plan_.is_ssh
                     ? "install ssh (package openssh-client), or name another "
                       "command with --remote-shell"
                     : "it is the command of --remote-shell"});
}

void RemoteAttempt::GiveUp(RemoteFailure failure) {
  if (kill_) std::exchange(kill_, nullptr)();
  End(std::move(failure));
}

void RemoteAttempt::End(RemoteFailure failure) {
  out_watch_.reset();
  err_watch_.reset();
  const ErrorCode code = failure.again == Again::kWorthIt
                             ? ErrorCode::kUnavailable
                             : ErrorCode::kInvalidArgument;
  Error error(code, "host " + plan_.host + ": " +
                        std::string(PhaseName(failure.phase)) + ": " +
                        OneLine(failure.text, 1000));
  std::string hint = std::move(failure.remedy);
  if (!hint.empty()) hint += "; ";
  hint += "by hand: " + plan_.by_hand;
  (void)Tell(
      handlers_.on_end,
      BootstrapEnd{failure.phase, std::move(error).WithHint(std::move(hint)),
                   OneLine(failure.reason), failure.again, failure.explained});
}

}  // namespace hvd
