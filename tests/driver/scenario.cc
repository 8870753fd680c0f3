#include "tests/driver/scenario.h"

#include <csignal>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include "base/seconds.h"
#include "driver/elastic_driver.h"
#include "driver/explain.h"

namespace hvd::testing {
namespace {

Error Unreadable(const std::string& line) {
  return {ErrorCode::kInvalidArgument, "scenario: cannot read \"" + line + '"'};
}

// "key=value" words by key; a word without "=" has an empty value.
std::map<std::string, std::string> Fields(const std::string& line) {
  std::map<std::string, std::string> fields;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::size_t equals = std::min(word.find('='), word.size());
    fields[word.substr(0, equals)] =
        equals < word.size() ? word.substr(equals + 1) : "";
  }
  return fields;
}

std::optional<int> SignalNumber(const std::string& name) {
  for (int signo = 1; signo < NSIG; ++signo) {
    if (SignalName(signo) == name) return signo;
  }
  return std::nullopt;
}

std::optional<ErrorCode> ParseErrorCode(const std::string& word) {
  if (word == "not-found") return ErrorCode::kNotFound;
  if (word == "invalid-argument") return ErrorCode::kInvalidArgument;
  if (word == "unavailable") return ErrorCode::kUnavailable;
  return std::nullopt;
}

std::string AfterColon(const std::string& line) {
  const std::size_t colon = line.find(": ");
  return colon == std::string::npos ? "" : line.substr(colon + 2);
}

WorkerId ParseWorker(const std::string& text) {
  const std::size_t slash = text.rfind('/');
  return {text.substr(0, slash), std::stoi(text.substr(slash + 1))};
}

LaunchId Launch(const std::map<std::string, std::string>& fields) {
  return LaunchId{std::stoi(fields.at("launch"))};
}

Result<Event> ParseHosts(const std::string& rest) {
  std::string list;
  std::istringstream words(rest);
  for (std::string word; words >> word;) list += word + ',';
  Result<HostList> hosts = ParseHostList(list, 1);
  if (!hosts.ok()) return std::move(hosts).error();
  return Event{HostsDiscovered{std::move(hosts).value()}};
}

Result<Event> ParseExit(const std::string& rest) {
  const auto fields = Fields(rest);
  ExitStatus status;
  if (fields.count("code") != 0) {
    status.code = std::stoi(fields.at("code"));
    return Event{WorkerExited{Launch(fields), status}};
  }
  for (const auto& [word, unused] : fields) {
    if (const auto signo = SignalNumber(word)) status.signal = *signo;
  }
  if (status.signal == 0) return Unreadable(rest);
  return Event{WorkerExited{Launch(fields), status}};
}

Result<Event> ParseStartFailed(const std::string& rest) {
  std::istringstream words(rest);
  std::string launch;
  std::string code;
  words >> launch >> code;
  if (!code.empty()) code.pop_back();  // the colon
  const auto parsed = ParseErrorCode(code);
  if (!parsed) return Unreadable(rest);
  return Event{WorkerStartFailed{Launch(Fields(launch)),
                                 Error{*parsed, AfterColon(rest)}}};
}

Result<Event> ParseEvent(const std::string& line) {
  const std::size_t blank = std::min(line.find(' '), line.size());
  const std::string kind = line.substr(0, blank);
  const std::string rest =
      blank < line.size() ? line.substr(blank + 1) : std::string();
  const auto fields = Fields(rest);
  if (kind == "hosts") return ParseHosts(rest);
  if (kind == "exit") return ParseExit(rest);
  if (kind == "start-failed") return ParseStartFailed(rest);
  if (kind == "tick" || kind == "wake") return Event{Tick{}};
  if (kind == "discovery-failed:") {
    return Event{DiscoveryFailed{Error{ErrorCode::kInvalidArgument, rest}}};
  }
  if (kind == "launcher-lost:") {
    return Event{LauncherLost{Error{ErrorCode::kInternal, rest}}};
  }
  if (kind == "host-lost") {
    return Event{HostLost{rest.substr(0, rest.find(':')),
                          Error{ErrorCode::kUnavailable, AfterColon(rest)}}};
  }
  if (kind == "stopped") return Event{WorkerStopped{Launch(fields)}};
  if (kind == "started") {
    return Event{WorkerStarted{Launch(fields), std::stoi(fields.at("pid"))}};
  }
  if (kind == "ready") {
    return Event{WorkerReady{ParseWorker(rest.substr(0, rest.find(' '))),
                             Epoch{std::stoul(fields.at("after"))}}};
  }
  if (kind == "heard") {
    return Event{WorkerHeard{ParseWorker(rest.substr(0, rest.find(' '))),
                             Epoch{std::stoul(fields.at("epoch"))},
                             std::stoul(fields.at("operations"))}};
  }
  if (kind == "blame") {
    return Event{WorkerBlames{ParseWorker(rest.substr(0, rest.find(' '))),
                              Epoch{std::stoul(fields.at("epoch"))},
                              std::stoi(fields.at("rank"))}};
  }
  if (kind == "misplaced") return Event{WorkerMisplaced{ParseWorker(rest)}};
  const auto signo = SignalNumber(rest);
  if (kind == "signal" && signo) return Event{SignalReceived{*signo}};
  return Unreadable(line);
}

// "1-8" of "cooldown=1-8".
std::optional<Cooldown> ParseCooldown(const std::string& text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos) return std::nullopt;
  const Result<Duration> first = ParseSeconds(text.substr(0, dash));
  const Result<Duration> longest = ParseSeconds(text.substr(dash + 1));
  if (!first.ok() || !longest.ok()) return std::nullopt;
  return Cooldown{first.value(), longest.value()};
}

bool SetCount(const std::string& key, int value, DriverOptions& options) {
  if (key == "np") {
    options.workers = value;
  } else if (key == "min") {
    options.elastic = true;
    options.min_workers = value;
  } else if (key == "max") {
    options.max_workers = value;
  } else if (key == "min-hosts") {
    options.min_hosts = value;
  } else if (key == "reset-limit") {
    options.reset_limit = value;
  } else if (key == "max-restarts") {
    options.max_restarts = value;
  } else if (key == "slot-failures") {
    options.ledger.slot_failures = value;
  } else {
    return false;
  }
  return true;
}

bool SetTime(const std::string& key, Duration value, DriverOptions& options) {
  if (key == "start-timeout") {
    options.start_timeout = value;
  } else if (key == "timeout") {
    options.job_timeout = value;
  } else if (key == "grace") {
    options.stop_grace = value;
  } else if (key == "elastic-timeout") {
    options.elastic_timeout = value;
  } else if (key == "worker-timeout") {
    options.worker_timeout = value;  // 0: off, as the flag
    if (value == Duration{0}) options.worker_timeout.reset();
  } else if (key == "restart-window") {
    options.ledger.window = value;
  } else {
    return false;
  }
  return true;
}

Result<DriverOptions> ParseOptions(const std::string& line) {
  DriverOptions options;
  for (const auto& [key, value] : Fields(line.substr(line.find(' ')))) {
    if (key == "fixed-hosts") {
      options.hosts_may_change = false;
      continue;
    }
    if (key == "mode") {
      options.mode =
          value == "keep" ? ElasticMode::kKeep : ElasticMode::kRestart;
      continue;
    }
    if (key == "cooldown") {
      options.ledger.cooldown = ParseCooldown(value);
      if (!options.ledger.cooldown) return Unreadable(line);
      continue;
    }
    const Result<Duration> seconds = ParseSeconds(value);
    if (!seconds.ok()) return Unreadable(line);
    const auto count = static_cast<int>(seconds.value().count() / 1000);
    if (!SetCount(key, count, options) &&
        !SetTime(key, seconds.value(), options)) {
      return Unreadable(line);
    }
  }
  return options;
}

class Replayer {
 public:
  explicit Replayer(const DriverOptions& options)
      : driver_(options, Instant{}) {}

  // `line`: "<seconds> <event>".
  Status Apply(const std::string& line) {
    const std::size_t blank = line.find(' ');
    const Result<Duration> at = ParseSeconds(line.substr(0, blank));
    if (!at.ok() || blank == std::string::npos) return Unreadable(line);
    const Result<Event> event = ParseEvent(line.substr(blank + 1));
    if (!event.ok()) return event.error();
    const bool wake = line.substr(blank + 1) == "wake";
    const Instant now = Instant{} + at.value();
    while (!wake && driver_.NextDeadline() && *driver_.NextDeadline() < now) {
      const Instant tick = *driver_.NextDeadline();
      const std::string text =
          Explain(std::chrono::duration_cast<Duration>(tick - Instant{}),
                  Tick{}, driver_.On(Tick{}, tick));
      if (!text.empty()) out_ += text + '\n';
    }
    out_ += "t=" + line + '\n';
    for (const Action& action : driver_.On(event.value(), now)) {
      out_ += "  " + ToText(action) + '\n';
    }
    return Done{};
  }

  const std::string& out() const { return out_; }

 private:
  ElasticDriver driver_;
  std::string out_;
};

}  // namespace

Result<std::string> Replay(const std::string& text) {
  std::string head;
  std::optional<Replayer> replayer;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("options ", 0) == 0 && !replayer) {
      const Result<DriverOptions> options = ParseOptions(line);
      if (!options.ok()) return options.error();
      head += line + '\n';
      replayer.emplace(options.value());
    } else if (!replayer) {
      head += line + '\n';
    } else if (line.rfind("t=", 0) == 0) {
      Status applied = replayer->Apply(line.substr(2));
      if (!applied.ok()) return std::move(applied).error();
    } else if (line.rfind("  ", 0) != 0) {
      return Unreadable(line);
    }
  }
  if (!replayer) return Unreadable("no options line");
  return head + replayer->out();
}

}  // namespace hvd::testing
