// Named hosts: what the names that the user gave mean, before anything starts.
#pragma once

#include <functional>
#include <vector>

#include "base/event_loop.h"
#include "base/result.h"
#include "cmd/settings.h"
#include "discovery/local_host.h"
#include "rendezvous/worker_env.h"

namespace hvd {

// The addresses of all hosts that are given, while `loop` runs. Errors as
// LookUpHosts; kCancelled once `stop` holds.
Result<std::vector<HostAddress>> LookUpAllHosts(
    EventLoop& loop, const Settings& settings,
    const std::function<bool()>& stop);

bool AllLocal(const std::vector<HostAddress>& hosts);

// For what is shown without being tried: which addresses hosts have for each
// other is found out at the start.
void LeaveNetworksOpen(const HostList& hosts, JobEnv& env);

}  // namespace hvd
