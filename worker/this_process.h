// ThisProcess: the one place with process-wide state, since the public
// functions speak of the process.
//
// It throws what the public functions throw. It is never destroyed: exit
// handlers and other threads may still ask for the rank while the process ends.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "collectives/communicator.h"
#include "worker/context.h"

namespace hvd {

class ElasticState;

struct ProcessState {
  std::mutex mutex;  // Init against Shutdown at exit
  std::unique_ptr<Context> context;
  std::atomic<Context*> current{nullptr};  // context.get(), for the getters
  std::atomic<pid_t> owner{-1};            // who called Init
  bool left = false;                       // Shutdown was called
  ElasticState* running = nullptr;         // what RunElastic runs with
};

ProcessState& Process();

// A forked child has neither the threads nor the right to speak for the rank.
bool IsOwner();

// Throw std::logic_error before Init and after Shutdown; JoinedHere in a forked
// child, too.
Context& Joined();
Context& JoinedHere();

// Makes one collective call. Throws CommError, std::invalid_argument.
void Collective(const std::function<Status(Communicator&)>& call);

}  // namespace hvd
