// Dry run: what would be started, where and with which environment.
//
// Pure; shows no secret.
#pragma once

#include <string>
#include <vector>

#include "base/process.h"
#include "discovery/hosts.h"
#include "rendezvous/world.h"

namespace hvd {

struct DryRunPlan {
  HostList hosts;
  World world;
  std::vector<EnvList> added;  // by rank: what hvdrun adds for it
  std::vector<std::string> command;
};

// Variables that all ranks have alike are shown once. A port that is still "0"
// is shown as chosen at start.
std::string DryRunText(const DryRunPlan& plan);

}  // namespace hvd
