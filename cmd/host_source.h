// Host source: where the list of hosts comes from, as the user's flags say.
#pragma once

#include <memory>

#include "base/event_loop.h"
#include "base/process.h"
#include "cmd/settings.h"
#include "discovery/host_discovery.h"
#include "discovery/script_discovery.h"

namespace hvd {

struct HostSource {
  std::unique_ptr<HostDiscovery> discovery;
  const ScriptDiscovery* script = nullptr;  // the same, if it is one
};

// `env`: hvdrun's own, for the script.
HostSource MakeHostSource(EventLoop& loop, const Settings& settings,
                          const EnvList& env);

}  // namespace hvd
