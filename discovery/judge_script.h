// JudgeScript: what one run of a discovery script amounts to.
//
// Pure.
#pragma once

#include <cstddef>
#include <string>

#include "base/clock.h"
#include "base/process.h"
#include "discovery/attempt_news.h"

namespace hvd {

// More hosts than any job has; a script that prints more is out of its mind.
constexpr std::size_t kMaxScriptOutput = std::size_t{1} << 20U;
// For the last lines; more is dropped from the front.
constexpr std::size_t kMaxScriptErrors = 4096;

enum class ScriptEnding { kExited, kTimedOut, kTooMuchOutput };

struct ScriptEnd {
  ScriptEnding how = ScriptEnding::kExited;
  ExitStatus status = {};   // of one that exited
  std::string output = {};  // its stdout
  std::string errors = {};  // the end of its stderr
};

struct ScriptRules {
  std::string command;
  int slots_per_host = 1;
  Duration timeout{30'000};  // for the message
};

// "host discovery script ./hosts.sh": begins each message about it.
std::string ScriptName(const std::string& command);

Attempt JudgeScript(const ScriptRules& rules, const ScriptEnd& end);

}  // namespace hvd
