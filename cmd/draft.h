// Draft: what the flags said, one by one, before it is known to fit together.
//
// Each value is checked by itself here; settings.cc checks them against each
// other. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cmd/arguments.h"
#include "cmd/settings.h"

namespace hvd {

struct Draft {
  Settings settings;      // all but np, hosts, command and notes
  std::optional<int> np;  // negative: that many on this machine
  std::string np_written = "-np";
  std::optional<FlagUse> hosts;
  std::optional<FlagUse> hostfile;
};

// "--timeout must be more than 0 seconds, got "0"".
Error Refuse(const FlagUse& use, const std::string& why);

// Puts one flag into `draft`; a later use of the same flag wins, --env and
// --network-interfaces add up.
Status ApplyFlag(const FlagUse& use, Draft& draft);

}  // namespace hvd
