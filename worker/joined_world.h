// JoinedWorld: one world, from the moment hvdrun handed it out until this
// worker leaves it: what becomes of it, and the ring of its members.
//
// In an elastic job hvdrun is listened to before the ring stands, so that
// members do not wait for one that dies meanwhile.
//
// One thread at a time; identity() and heard_of_change() from any.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "collectives/comm_queue.h"
#include "collectives/communicator.h"
#include "collectives/ring_listener.h"
#include "collectives/selection.h"
#include "collectives/shared_heap.h"
#include "rendezvous/membership.h"
#include "rendezvous/rendezvous_client.h"
#include "rendezvous/worker_env.h"
#include "worker/context.h"
#include "worker/notice_thread.h"

namespace hvd {

class JoinedWorld {
 public:
  // `env` outlives this.
  JoinedWorld(const WorkerEnv& env, Membership membership);
  // Leaves in order: the others learn that this worker went on purpose.
  ~JoinedWorld() = default;
  JoinedWorld(const JoinedWorld&) = delete;
  JoinedWorld& operator=(const JoinedWorld&) = delete;

  // Until then communicator() may not be called. kCancelled, in an elastic job
  // only: this world is over before it began; ask for the next one.
  // `heap` is as Context::Join has it.
  Status Form(const RingListener& listener, Instant deadline,
              const Selection& table, const SharedHeap* heap);

  const Identity& identity() const { return identity_; }
  Epoch epoch() const { return membership_.world.epoch; }
  Communicator& communicator() { return *communicator_; }
  CommQueue& queue() { return *queue_; }
  bool heard_of_change() const { return notices_ && notices_->heard(); }
  // Once: the other rank that has left or died, if one has. A silent one is
  // there still.
  std::optional<int> NewlyFailedRank();

 private:
  void Listen();

  const WorkerEnv& env_;
  Membership membership_;
  Identity identity_;
  bool failure_told_ = false;
  std::optional<RendezvousClient> client_;
  std::unique_ptr<Communicator> communicator_;
  std::optional<CommQueue> queue_;
  std::optional<NoticeThread> notices_;  // ends before what it uses
};

}  // namespace hvd
