#include "discovery/judge_script.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "base/seconds.h"

namespace hvd {
namespace {

constexpr std::size_t kShownLines = 3;
// A shell's, and env's.
constexpr int kCannotExecute = 126;
constexpr int kCommandNotFound = 127;
constexpr int kSignalBase = 128;

// The last lines that are not blank, oldest first.
std::vector<std::string_view> LastLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < kShownLines) {
    const std::size_t newline = text.rfind('\n');
    const std::size_t begin =
        newline == std::string_view::npos ? 0 : newline + 1;
    std::string_view line = text.substr(begin);
    text = text.substr(0, begin == 0 ? 0 : newline);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    lines.insert(lines.begin(), line);
  }
  return lines;
}

// " (last line: "...")", or nothing.
std::string LastWords(const std::string& errors) {
  const std::vector<std::string_view> lines = LastLines(errors);
  if (lines.empty()) return "";
  std::string text = lines.size() == 1 ? " (last line: " : " (last lines: ";
  for (const std::string_view line : lines) {
    if (line.data() != lines.front().data()) text += ", ";
    text += Quoted(line);
  }
  return text + ')';
}

std::string HintFor(int code) {
  if (code == kCommandNotFound) {
    return "127 means that a command was not found: a path is taken from the "
           "directory in which hvdrun was started, a name from PATH";
  }
  if (code == kCannotExecute) {
    return "126 means that a file cannot be executed: is it executable (chmod "
           "+x), and does the interpreter of its #! line exist?";
  }
  if (code > kSignalBase && code < kSignalBase + 32) {
    return std::to_string(code) + " is what a shell makes of " +
           SignalName(code - kSignalBase);
  }
  return "";
}

DiscoveryFailure FailedExit(const std::string& name, ExitStatus status,
                            const std::string& words) {
  if (status.signal != 0) {
    return {FailureKind::kSignal,
            {ErrorCode::kUnavailable,
             name + ": killed by " + SignalName(status.signal) + words}};
  }
  const ErrorCode code = status.code == kCommandNotFound
                             ? ErrorCode::kNotFound
                             : ErrorCode::kUnavailable;
  return {
      FailureKind::kExitStatus,
      Error{code, name + ": exit status " + std::to_string(status.code) + words}
          .WithHint(HintFor(status.code))};
}

}  // namespace

std::string ScriptName(const std::string& command) {
  return "host discovery script " + OneLine(command);
}

Attempt JudgeScript(const ScriptRules& rules, const ScriptEnd& end) {
  const std::string name = ScriptName(rules.command);
  const std::string words = LastWords(end.errors);
  switch (end.how) {
    case ScriptEnding::kExited:
      break;
    case ScriptEnding::kTimedOut:
      return DiscoveryFailure{
          FailureKind::kTimeout,
          {ErrorCode::kTimeout, name + ": killed, not done after " +
                                    SecondsText(rules.timeout) + words}};
    case ScriptEnding::kTooMuchOutput:
      return DiscoveryFailure{
          FailureKind::kTooMuchOutput,
          {ErrorCode::kInvalidArgument,
           name + ": killed, it printed more than 1 MiB" + words}};
  }
  if (!end.status.success()) return FailedExit(name, end.status, words);
  return ParseAttempt(end.output, name, rules.slots_per_host);
}

}  // namespace hvd
