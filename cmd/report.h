// Report: how a job went, for the user's terminal and as JSON.
//
// Pure: an outcome and what was gathered about it in, text out.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cmd/version.h"
#include "driver/outcome.h"

namespace hvd {

struct JobReport {
  Outcome outcome;
  std::chrono::system_clock::time_point started;  // all times are since then
  std::vector<std::string> command;
  std::string first_failure_stderr;  // its last lines; may be empty
  std::string first_failure_log;     // path of its stderr file; empty: none
  std::string version = std::string(Version());
};

// Lines for stderr, without the program's name in front: the first failure once
// with what is known of it, the victims in one line, the last resets, and at
// the end the exit code with the rule that gave it.
std::vector<std::string> ReportLines(const JobReport& report);

// The same and more as one JSON object, for --report; docs/cli.md describes
// it. Bytes of stderr that are not UTF-8 are replaced.
std::string ReportJson(const JobReport& report);

}  // namespace hvd
