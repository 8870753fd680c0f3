// JoinJob: a worker that hvdrun started, from its environment to its world.
//
// Its thread "hvd-control" waits for news from hvdrun about lost ranks.
#pragma once

#include <memory>

#include "base/result.h"
#include "collectives/selection.h"
#include "collectives/shared_heap.h"
#include "rendezvous/worker_env.h"
#include "worker/context.h"

namespace hvd {

Result<std::unique_ptr<Context>> JoinJob(const WorkerEnv& env,
                                         const Selection& table,
                                         const SharedHeap* heap);

}  // namespace hvd
