#include <hvd/hvd.h>

#include <cstddef>
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

// As large as the machine's memory, or as it gives address space for; null if
// it gives hardly any.
std::unique_ptr<SharedHeap> MakeHeap() {
  constexpr std::size_t kLeast = std::size_t{64} << 20U;
  for (std::size_t bytes = SharedHeap::DefaultSize(); bytes >= kLeast;
       bytes /= 2) {
    Result<std::unique_ptr<SharedHeap>> heap = SharedHeap::Create(bytes);
    if (heap.ok()) return std::move(heap).value();
  }
  return nullptr;
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
  process.heap = MakeHeap();
  process.grouped = std::make_unique<GroupedReduce>(process.heap.get());
  Result<std::unique_ptr<Context>> joined =
      Context::Join(CurrentEnvironment(), process.heap.get());
  if (!joined.ok()) {
    throw std::runtime_error("hvd: " + joined.error().message());
  }
  process.context = std::move(joined).value();
  BecomeOwner();
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
