// Group setup: how the ranks of a host come to share memory, once they are
// linked: the first one makes it, gathers what each has, and hands all to all.
//
// One thread.
#pragma once

#include <vector>

#include "base/result.h"
#include "collectives/link.h"
#include "collectives/local_segment.h"
#include "collectives/selection.h"
#include "collectives/shared_heap.h"
#include "collectives/topology.h"

namespace hvd {

struct SharedGroup {
  LocalSegment segment;
  HeapMap heaps;
};

// On the host's first rank: `mates` are its links to the others, in order, over
// each of which came the mate's heap, if it has one. kCancelled, here and
// below: see LinkTerms; also for a mate that died over it.
Result<SharedGroup> HandOutGroup(std::vector<Link> mates,
                                 const Selection& table, const SharedHeap* heap,
                                 const LinkTerms& terms);
// On the others.
Result<SharedGroup> ReceiveGroup(Link first, const Topology& topology,
                                 const Selection& table, const SharedHeap* heap,
                                 const LinkTerms& terms);

}  // namespace hvd
