// Slot assignment: which slots have a worker, and so which ranks there are.
//
// Pure. Hosts are filled one after the other in the order listed, so all slots
// of a host have neighbouring ranks and -H decides the order of the ring.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "discovery/hosts.h"
#include "rendezvous/world.h"

namespace hvd {

// Up to `most` slots, in rank order, of those that are `usable`.
std::vector<WorkerId> AssignSlots(
    const HostList& hosts, int most,
    const std::function<bool(const WorkerId&)>& usable);

// `hosts` in the order in which they were first listed: those of `before`
// first, as far as they are still there, then the new ones.
HostList InFirstListedOrder(const HostList& hosts,
                            const std::vector<std::string>& before);

// How many hosts have a worker among `workers`.
int CountHosts(const std::vector<WorkerId>& workers);

}  // namespace hvd
