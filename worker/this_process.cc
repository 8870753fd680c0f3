#include "worker/this_process.h"

#include <hvd/hvd.h>
#include <pthread.h>

#include "base/check.h"

namespace hvd {
namespace {

void ThrowFailure(const Communicator& communicator, const Error& error) {
  if (const CommFailure* failure = communicator.failure()) {
    throw CommError(failure->rank, failure->text);
  }
  if (error.code() == ErrorCode::kInvalidArgument) {
    throw std::invalid_argument("hvd: " + error.message());
  }
  throw CommError(-1, error.message());
}

}  // namespace

ProcessState& Process() {
  static ProcessState* const state = std::make_unique<ProcessState>().release();
  return *state;
}

bool IsOwner() { return Process().owns.load(std::memory_order_relaxed); }

void BecomeOwner() {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { Process().owns.store(false); });
  HVD_CHECK(registered == 0);
  Process().owns.store(true);
}

Context& Joined() {
  Context* const context = Process().current.load();
  if (context == nullptr) {
    throw std::logic_error(
        "hvd: call Init before anything else, and nothing "
        "after Shutdown");
  }
  return *context;
}

Context& JoinedHere() {
  Context& context = Joined();
  if (!IsOwner()) {
    throw std::logic_error(
        "hvd: only the process that called Init may communicate, this is a "
        "forked child of it");
  }
  return context;
}

Communicator& ReadyCommunicator() {
  Context& context = JoinedHere();
  context.queue().Drain();
  return context.communicator();
}

void ThrowIfFailed(const Status& status) {
  if (status.ok()) return;
  Context& context = JoinedHere();
  context.BlameFailedRank();
  ThrowFailure(context.communicator(), status.error());
}

}  // namespace hvd
