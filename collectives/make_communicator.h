// MakeCommunicator: from a world's members to a Communicator that connects
// them.
//
// Blocks until all of this rank's links stand. The listener is the one whose
// endpoint this member announced; it serves one call at a time.
#pragma once

#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "collectives/communicator.h"
#include "collectives/ring_listener.h"
#include "collectives/selection.h"
#include "collectives/shared_heap.h"
#include "rendezvous/membership.h"

namespace hvd {

struct RingOptions {
  // --collective-timeout: without progress for this long a rank is silent.
  Duration collective_timeout{300'000};
  Instant deadline;  // for the links to stand
  // A descriptor that becomes readable when the world is not wanted any more;
  // -1: none. It stays the caller's.
  int cancel_fd = -1;
  Selection table = {};
  // What this rank has for the others to map; null: nothing. Outlives the
  // communicator.
  const SharedHeap* heap = nullptr;
};

// `key` proves the job. A world of one opens nothing and needs no listener.
// kTimeout: a rank could not be reached or did not come. kCancelled: it was
// given up; neighbours that were connected already see this rank die.
Result<std::unique_ptr<Communicator>> MakeCommunicator(
    const Membership& membership, std::string_view key,
    const RingListener& listener, const RingOptions& options);

}  // namespace hvd
