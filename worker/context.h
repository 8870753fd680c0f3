// Context: what a worker process holds between Init and Shutdown: its identity,
// its communicator, its lines to hvdrun, and the thread that hears from hvdrun.
//
// It does not throw and is no singleton: hvd.cc keeps the process's one.
// It does not include rendezvous/world.h, whose enum Epoch would meet the
// public function Epoch() in hvd.cc.
//
// Collectives, Rejoin, Log and SetResult: one thread at a time. identity(): any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/process.h"
#include "base/result.h"
#include "collectives/comm_queue.h"
#include "collectives/communicator.h"
#include "collectives/shared_heap.h"

namespace hvd {

// Who this worker is in its world.
struct Identity {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  int local_size = 1;
  int cross_rank = 0;
  int cross_size = 1;
  std::string host;
  std::uint64_t epoch = 1;
};

class Context {
 public:
  // Joins the world that `env` leads to, or a world of one if it leads nowhere.
  // The message says what was tried, for how long, and which flag matters.
  // Takes the job's secrets out of this process's environment. `heap` is what
  // the other ranks of the host may map, and outlives this; null: nothing.
  static Result<std::unique_ptr<Context>> Join(const EnvList& env,
                                               const SharedHeap* heap);
  // Leaves in order: the other ranks learn that this one went on purpose.
  virtual ~Context() = default;

  // In the world it is in, or was in last. Valid as long as this.
  virtual const Identity& identity() const = 0;
  virtual Communicator& communicator() = 0;
  // Of that communicator.
  virtual CommQueue& queue() = 0;
  // A next world is possible.
  virtual bool elastic() const { return false; }
  // The hosts have changed, so a next world is there or being made. Ranks learn
  // it at different moments.
  virtual bool HeardOfChange() const { return false; }
  // Leaves the world, whether it is dead or alive, and joins the next one, for
  // which it waits as long as hvdrun answers. kNotFound: this worker is not
  // wanted any more. After any error it is in no world, and calls fail.
  virtual Status Rejoin() = 0;
  // To be called before a failure is told to the program, which may end over
  // it: tells hvdrun which rank failed, so that this one is not taken for the
  // cause.
  virtual void BlameFailedRank() {}
  // As RendezvousClient's; without hvdrun a line on stdout, and nothing.
  virtual Status Log(std::string_view text) = 0;
  virtual Status SetResult(std::string_view bytes) = 0;
};

}  // namespace hvd
