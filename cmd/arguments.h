// Arguments: which flags were given, where, with which text; and the command.
//
// Knows the shapes of words (horovodrun's and ours), not what values mean. The
// first word that is no flag is the user's program: it and all after it are
// never looked at.
//
// Pure.
// Source of the shapes: Python's argparse as horovodrun uses it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "cmd/flag_table.h"

namespace hvd {

struct FlagUse {
  const Flag* flag = nullptr;
  std::string value;    // "1" for a flag that takes none
  std::string written;  // "-np", "HVDRUN_NUM_PROC": for messages
};

struct Arguments {
  std::vector<FlagUse> flags;  // in the order given
  std::vector<std::string> command;
  bool dashes_before_command = false;  // "--" said where the command starts
};

// "--flag value", "--flag=value", "-np 4", "-np=4", "-np4", "-np -4",
// "-Hlocalhost:2", and any unambiguous beginning of a long flag: horovodrun's
// flags are tried first, then ours. A "--" before the command is dropped.
// kInvalidArgument, with a hint where a name is near.
Result<Arguments> SplitArguments(const std::vector<std::string>& words);

// The flags that HVDRUN_ variables of `env` give, in the order of the table; an
// empty variable gives none. `notes` gets a line for each HVDRUN_ variable that
// is no flag.
Result<std::vector<FlagUse>> FlagsFromVariables(
    const EnvList& env, std::vector<std::string>& notes);

}  // namespace hvd
