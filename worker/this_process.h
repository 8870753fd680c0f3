// ThisProcess: the one place with process-wide state, since the public
// functions speak of the process.
//
// It throws what the public functions throw. It is never destroyed: exit
// handlers and other threads may still ask for the rank while the process ends.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "collectives/communicator.h"
#include "collectives/grouped_reduce.h"
#include "collectives/shared_heap.h"
#include "worker/context.h"

namespace hvd {

class ElasticState;

struct ProcessState {
  std::mutex mutex;  // Init against Shutdown at exit
  // From Init on, and never taken away: it holds the program's arrays. Null if
  // the machine gave none.
  std::unique_ptr<SharedHeap> heap;
  std::unique_ptr<GroupedReduce> grouped;
  std::unique_ptr<Context> context;
  std::atomic<Context*> current{nullptr};  // context.get(), for the getters
  std::atomic<bool> owns{false};           // it called Init; no forked child
  bool left = false;                       // Shutdown was called
  ElasticState* running = nullptr;         // what RunElastic runs with
};

ProcessState& Process();

// A forked child has neither the threads nor the right to speak for the rank.
bool IsOwner();
void BecomeOwner();

// Throw std::logic_error before Init and after Shutdown; JoinedHere in a forked
// child, too.
Context& Joined();
Context& JoinedHere();

// With nothing of this process's under way. Throws as JoinedHere.
Communicator& ReadyCommunicator();
// CommError or std::invalid_argument, if `status` is an error.
void ThrowIfFailed(const Status& status);

// Makes one collective call, after those that were issued before, and throws
// what becomes of it.
template <class Call>
void Collective(const Call& call) {
  ThrowIfFailed(call(ReadyCommunicator()));
}

}  // namespace hvd
