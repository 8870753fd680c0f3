// Slot assignment: which worker sits where, and so gets which rank.
//
// Pure. Hosts are filled one after the other in the order listed, so all slots
// of a host have neighbouring ranks and -H decides the order of the ring.
#pragma once

#include <optional>
#include <vector>

#include "discovery/hosts.h"
#include "rendezvous/world.h"

namespace hvd {

// The places of exactly `workers` workers, in rank order; nullopt if there are
// fewer slots.
std::optional<std::vector<WorkerId>> AssignSlots(const HostList& hosts,
                                                 int workers);

}  // namespace hvd
