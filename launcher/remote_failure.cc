#include "launcher/remote_failure.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace hvd {
namespace {

using enum StartPhase;
using enum Again;

constexpr int kSshFailed = 255;
constexpr int kSshdRefused =
    254;                         // sshd without PAM, while /etc/nologin exists
constexpr int kCannotRun = 126;  // a shell's
constexpr int kNotFound = 127;

// A line of ssh that has `words` in it. Earlier rows are the better explanation
// where two fit.
struct Row {
  std::string_view words;
  StartPhase phase;
  Again again;
  std::string_view text = {};  // in place of ssh's line
  std::string_view remedy = {};
};

constexpr Row kRows[] = {
    {"REMOTE HOST IDENTIFICATION HAS CHANGED", kAuthenticate, kHopeless,
     "its host key is not the one that is known",
     "if you know why it has changed, forget the old one: ssh-keygen -R HOST"},
    {"POSSIBLE DNS SPOOFING", kAuthenticate, kHopeless,
     "its host key is not the one that is known",
     "if you know why it has changed, forget the old one: ssh-keygen -R HOST"},
    {"marked as revoked", kAuthenticate, kHopeless},
    {"host key is known for",
     kAuthenticate,
     kHopeless,
     {},
     "your ssh configuration wants its key in known_hosts first"},
    {"Host key verification failed", kAuthenticate, kHopeless},
    {"Permission denied (", kAuthenticate, kHopeless},
    {"Too many authentication failures",
     kAuthenticate,
     kHopeless,
     {},
     "ssh offered too many keys: name one with --ssh-identity-file"},
    {"No supported authentication methods", kAuthenticate, kHopeless},
    {"invalid characters", kResolve, kHopeless},
    {"Could not resolve hostname", kResolve, kWorthIt},
    {"unsupported option \"accept-new\"", kResolve, kHopeless,
     "the ssh here is older than 7.6",
     "--ssh-args \"-F $HOME/.ssh/config\" goes without hvdrun's ssh_config"},
    {"Bad configuration option", kResolve, kHopeless},
    {"terminating, ", kResolve, kHopeless},
    {"Can't open user config file", kResolve, kHopeless},
    {"Bad owner or permissions on", kResolve, kHopeless},
    {"unknown option --", kResolve, kHopeless, {}, "see --ssh-args"},
    {"usage: ssh", kResolve, kHopeless, {}, "see --ssh-args"},
    {"Unable to negotiate with", kConnect, kHopeless},
    {"exec request failed", kAgentStarts, kHopeless},
    {"administratively prohibited", kAgentStarts, kWorthIt},
    {"connect to host", kConnect, kWorthIt},
    {"connect to address", kConnect, kWorthIt},
    {"_exchange_identification:", kConnect, kWorthIt},
    {"banner exchange", kConnect, kWorthIt},
    {"Connection closed by", kConnect, kWorthIt},
    {"Connection reset by", kConnect, kWorthIt},
    {"closed by remote host", kConnect, kWorthIt},
    {"timed out", kConnect, kWorthIt},
    {"not responding", kConnect, kWorthIt},
    {"Broken pipe", kConnect, kWorthIt},
    {"stdio forwarding failed", kConnect, kWorthIt},
};

struct Match {
  const Row* row;
  std::string_view line;
};

std::optional<Match> FindRow(const std::vector<std::string>& said) {
  for (const Row& row : kRows) {
    const auto line =
        std::find_if(said.rbegin(), said.rend(), [&](const std::string& text) {
          return text.find(row.words) != std::string::npos;
        });
    if (line != said.rend()) return Match{&row, *line};
  }
  return std::nullopt;
}

// "Connection refused" of "ssh: connect to host b port 22: Connection refused".
std::string Reason(std::string_view line) {
  const std::size_t colon = line.rfind(": ");
  if (colon != std::string_view::npos) line.remove_prefix(colon + 2);
  while (line.ends_with('.') || line.ends_with(' ')) line.remove_suffix(1);
  return std::string(line);
}

std::string HowItEnded(ExitStatus status) {
  if (status.signal != 0) return "was killed by " + SignalName(status.signal);
  return "ended with exit code " + std::to_string(status.code);
}

// "<what>" or "<what> (<its last line>)".
std::string WithLastLine(std::string what, const RemoteEnd& end) {
  if (end.said.empty()) return what;
  return std::move(what) + " (" + end.said.back() + ')';
}

std::string Replaced(std::string_view text, const std::string& host) {
  std::string out(text);
  constexpr std::string_view kHost = "HOST";
  const std::size_t at = out.find(kHost);
  if (at != std::string::npos) out.replace(at, kHost.size(), host);
  return out;
}

std::string Place(const std::vector<std::string>& said) {
  const auto line = std::find_if(
      said.begin(), said.end(),
      [](const std::string& text) { return text.starts_with("Offending "); });
  return line == said.end() ? "" : " (" + *line + ')';
}

// What ssh warned of before the login was refused.
std::string_view UnreadableKey(const std::vector<std::string>& said) {
  for (const std::string& line : said) {
    if (line.find("Identity file ") != std::string::npos ||
        line.starts_with("Load key ")) {
      return line;
    }
  }
  return {};
}

RemoteFailure FromRow(const Match& match, const RemoteEnd& end,
                      const std::string& host) {
  const Row& row = *match.row;
  RemoteFailure failure{.phase = row.phase, .again = row.again};
  failure.text = row.text.empty() ? std::string(match.line)
                                  : std::string(row.text) + Place(end.said);
  failure.reason =
      row.text.empty() ? Reason(match.line) : std::string(row.text);
  failure.remedy = Replaced(row.remedy, host);
  if (row.words.starts_with("Permission denied")) {
    failure.remedy = UnreadableKey(end.said);
  }
  return failure;
}

// Nothing of ours has run there.
RemoteFailure NotReached(const RemoteEnd& end, const std::string& host) {
  RemoteFailure failure;
  const std::string command = end.is_ssh ? "ssh" : "the remote shell";
  if (!end.is_ssh || end.status.signal != 0 || end.status.code == kSshFailed) {
    const bool found =
        end.status.signal != 0 ||
        (end.status.code != kNotFound && end.status.code != kCannotRun);
    if (!found) failure.again = kHopeless;
    if (const auto match = FindRow(end.said)) return FromRow(*match, end, host);
    failure.explained = false;
    failure.reason = end.said.empty() ? command + ' ' + HowItEnded(end.status)
                                      : Reason(end.said.back());
    failure.text = WithLastLine(command + ' ' + HowItEnded(end.status), end);
    return failure;
  }
  failure.explained = false;
  failure.phase = kAgentStarts;
  failure.again = end.status.code == kSshdRefused ? kWorthIt : kHopeless;
  failure.reason = "the login shell there " + HowItEnded(end.status);
  failure.text = WithLastLine(failure.reason, end);
  return failure;
}

// The words before the agent have run, and then?
RemoteFailure NotGreeted(const RemoteEnd& end, const AgentPlace& place) {
  constexpr std::string_view kInstallIt =
      "install hvdrun there as here, say where it is with --agent-path, or let "
      "--install-agent bring it along";
  const bool installs = place.kind == AgentPlace::Kind::kInstall;
  RemoteFailure failure{.phase = kAgentStarts, .again = kHopeless};
  const int code = end.status.code;
  if (end.status.signal == 0 && code == kNotFound) {
    failure.reason = "no agent program there";
    failure.text = WithLastLine("there is no " + Describe(place), end);
    failure.remedy = kInstallIt;
  } else if (end.status.signal == 0 && code == kCannotRun) {
    failure.reason = "the agent program cannot be run there";
    failure.text = WithLastLine(Describe(place) + " cannot be run", end);
    failure.remedy = kInstallIt;
  } else if (installs && code == kExitNoFolder) {
    failure.reason = "no folder there in which a program may be run";
    failure.text = failure.reason +
                   ": tried $TMPDIR, /tmp, $HOME/.cache, $HOME, /dev/shm, "
                   "$XDG_RUNTIME_DIR";
    failure.remedy = "install hvdrun there and say where with --agent-path";
  } else if (installs && code == kExitCutShort) {
    failure.again = kWorthIt;
    failure.reason = "the agent program did not come through";
    failure.text = WithLastLine(failure.reason, end);
  } else if (end.status.signal != 0 || code == kSshFailed || !end.is_ssh) {
    failure.again = kWorthIt;
    failure.explained = false;
    failure.reason = "the connection ended before the agent greeted";
    failure.text = WithLastLine(failure.reason, end);
  } else {
    failure.explained = false;
    failure.reason = "the agent " + HowItEnded(end.status);
    failure.text = WithLastLine(
        Describe(place) + ' ' + HowItEnded(end.status) + " before it greeted",
        end);
  }
  return failure;
}

// An agent that ends by itself has said why in its own way.
RemoteFailure AfterGreeting(const RemoteEnd& end) {
  RemoteFailure failure{.phase = kAgentAnswers, .explained = false};
  failure.reason =
      end.is_ssh && end.status.signal == 0 && end.status.code != kSshFailed
          ? "the agent " + HowItEnded(end.status)
          : "the connection to its agent ended";
  failure.text = WithLastLine(failure.reason, end);
  return failure;
}

}  // namespace

RemoteFailure JudgeRemoteEnd(const RemoteEnd& end, const AgentPlace& place,
                             const std::string& host) {
  switch (end.reached) {
    case Reached::kNothing:
      return NotReached(end, host);
    case Reached::kLogin:
      return NotGreeted(end, place);
    case Reached::kAgent:
      return AfterGreeting(end);
  }
  return {};
}

}  // namespace hvd
