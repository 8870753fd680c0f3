#include <hvd/hvd.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "base/process.h"
#include "worker/context.h"
#include "worker/this_process.h"

namespace hvd {
namespace {

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
