// Exit code: what hvdrun returns for each way a job can end.
//
// One table, in the order in which its rules are tried; --help prints it and
// docs/cli.md contains it. Pure.
// Source of 124 to 127: GNU timeout and env, POSIX shells.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "driver/outcome.h"

namespace hvd {

// Flags, start-up, our own fault.
constexpr int kExitOwnFault = 125;

struct ExitRule {
  std::string_view when;
  std::string_view code;
};
std::span<const ExitRule> ExitRules();

int ExitCodeOf(const Outcome& outcome);

// The last line on stderr: "exit code 7: rank 2 on a exited with code 7".
std::string ExitLine(const Outcome& outcome);
// The same below an error that was found before a job began.
std::string ExitLineOfRefusal();  // "exit code 125: nothing was started"

}  // namespace hvd
