// LinkPlan: which links a rank of a world needs, and who dials.
//
// Pure. Every rank is linked to its ring neighbours, for failures and goodbyes.
// The first rank of a host is linked to the others there, to hand out the
// shared memory. Between hosts there are a ring of all ranks, a ring of the
// hosts' first ranks and so on for as many as every host has (if any host has
// more than one), and the pairs of first ranks that recursive doubling needs.
// Of rings the lower neighbour dials the upper one; of pairs, the lower rank.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/link.h"
#include "collectives/topology.h"

namespace hvd {

struct LinkPlan {
  std::vector<LinkWanted> accepted;
  std::vector<LinkWanted> dialled;
};

// Without descriptors to hand over.
LinkPlan PlanLinks(const Topology& topology, std::uint64_t epoch);

// Whether there are rings of hosts besides that of all ranks, and this rank is
// in one of them.
bool OnSomeRail(const Topology& topology);

}  // namespace hvd
