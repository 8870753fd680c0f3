#include <hvd/elastic.h>

#include "worker/state_access.h"
#include "worker/this_process.h"

namespace hvd {
namespace {

enum class Attempt { kFinished, kFailed, kHostsUpdated };

// Names the state that CheckHostUpdates is about.
class Running {
 public:
  explicit Running(ElasticState& state) {
    if (Process().running != nullptr) {
      throw std::logic_error("hvd: RunElastic was called within RunElastic");
    }
    Process().running = &state;
  }
  ~Running() { Process().running = nullptr; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

// Ranks that made different calls would make them again.
bool IsMismatch(Context& context) {
  const CommFailure* failure = context.communicator().failure();
  return failure != nullptr && failure->code == ErrorCode::kInvalidArgument;
}

Attempt Try(ElasticState& state, const std::function<void()>& fn) {
  try {
    state.Sync();
    fn();
    return Attempt::kFinished;
  } catch (const CommError&) {
    Context& context = JoinedHere();
    if (!context.elastic() || IsMismatch(context)) throw;
    return Attempt::kFailed;
  } catch (const HostsUpdated&) {
    if (!JoinedHere().elastic()) throw;  // the program threw it
    return Attempt::kHostsUpdated;
  }
}

}  // namespace

void CheckHostUpdates() {
  ElasticState* const state = Process().running;
  ElasticState::Impl bare;
  ElasticState::Impl& impl = state != nullptr ? *state->impl_ : bare;
  if (impl.Exchange()) throw HostsUpdated();
}

ElasticEnd RunElastic(ElasticState& state, const std::function<void()>& fn) {
  Init();
  const Running running(state);
  for (;;) {
    const Attempt attempt = Try(state, fn);
    if (attempt == Attempt::kFinished) return ElasticEnd::kFinished;
    if (attempt == Attempt::kFailed) state.Restore();
    const Status joined = JoinedHere().Rejoin();
    if (!joined.ok() && joined.error().code() == ErrorCode::kNotFound) {
      return ElasticEnd::kRemoved;
    }
    if (!joined.ok()) {
      throw std::runtime_error("hvd: join the next world: " +
                               joined.error().message());
    }
  }
}

}  // namespace hvd
