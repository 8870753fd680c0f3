#include <hvd/hvd.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "base/process.h"
#include "worker/context.h"

namespace hvd {
namespace {

// The public functions speak of the process, so here is the one place with
// process-wide state. It is never destroyed: exit handlers and other threads
// may still ask for the rank while the process ends.
struct ProcessState {
  std::mutex mutex;  // Init against Shutdown at exit
  std::unique_ptr<Context> context;
  std::atomic<Context*> current{nullptr};  // context.get(), for the getters
  std::atomic<pid_t> owner{-1};            // who called Init
  bool left = false;                       // Shutdown was called
};

ProcessState& Process() {
  static ProcessState* const state = std::make_unique<ProcessState>().release();
  return *state;
}

// A forked child has neither the threads nor the right to speak for the rank.
bool IsOwner() { return Process().owner.load() == ::getpid(); }

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

void ThrowFailure(const Communicator& communicator, const Error& error) {
  if (const CommFailure* failure = communicator.failure()) {
    throw CommError(failure->rank, failure->text);
  }
  if (error.code() == ErrorCode::kInvalidArgument) {
    throw std::invalid_argument("hvd: " + error.message());
  }
  throw CommError(-1, error.message());
}

template <class Call>
void Collective(const Call& call) {
  Context& context = JoinedHere();
  const Status status = call(context.communicator());
  if (status.ok()) return;
  context.LetHvdrunSeeFirst();
  ThrowFailure(context.communicator(), status.error());
}

void ShutdownAtExit() {
  if (IsOwner()) Shutdown();
}

}  // namespace

CommError::CommError(int rank, const std::string& what)
    : std::runtime_error(what), rank_(rank) {}
CommError::~CommError() = default;

void Init() {
  ProcessState& process = Process();
  const std::lock_guard lock(process.mutex);
  if (process.left) {
    throw std::logic_error("hvd: Init may not be called after Shutdown");
  }
  if (process.context != nullptr) return;
  Result<std::unique_ptr<Context>> joined = Context::Join(CurrentEnvironment());
  if (!joined.ok()) {
    throw std::runtime_error("hvd: " + joined.error().message());
  }
  process.context = std::move(joined).value();
  process.owner.store(::getpid());
  process.current.store(process.context.get());
  std::atexit(ShutdownAtExit);
}

void Shutdown() {
  ProcessState& process = Process();
  const std::lock_guard lock(process.mutex);
  if (process.context != nullptr && !IsOwner()) return;
  process.left = true;
  process.current.store(nullptr);
  process.context.reset();
}

bool IsInitialized() { return Process().current.load() != nullptr; }

int Rank() { return Joined().identity().rank; }
int Size() { return Joined().identity().size; }
int LocalRank() { return Joined().identity().local_rank; }
int LocalSize() { return Joined().identity().local_size; }
int CrossRank() { return Joined().identity().cross_rank; }
int CrossSize() { return Joined().identity().cross_size; }
std::string Host() { return Joined().identity().host; }
std::uint64_t Epoch() { return Joined().identity().epoch; }

void AllReduce(const void* in, void* out, std::size_t count, DataType type,
               ReduceOp op) {
  Collective(
      [&](Communicator& c) { return c.AllReduce(in, out, count, type, op); });
}

void Broadcast(void* data, std::size_t count, DataType type, int root) {
  Collective(
      [&](Communicator& c) { return c.Broadcast(data, count, type, root); });
}

void AllGather(const void* in, void* out, std::size_t count, DataType type) {
  Collective(
      [&](Communicator& c) { return c.AllGather(in, out, count, type); });
}

void Barrier() {
  Collective([](Communicator& c) { return c.Barrier(); });
}

void LogToDriver(std::string_view text) {
  const Status status = JoinedHere().Log(text);
  if (!status.ok()) {
    throw std::runtime_error("hvd: LogToDriver: " + status.error().message());
  }
}

void SetResult(std::string_view bytes) {
  const Status status = JoinedHere().SetResult(bytes);
  if (status.ok()) return;
  const std::string what = "hvd: SetResult: " + status.error().message();
  if (status.error().code() == ErrorCode::kInvalidArgument) {
    throw std::invalid_argument(what);
  }
  throw std::runtime_error(what);
}

}  // namespace hvd
