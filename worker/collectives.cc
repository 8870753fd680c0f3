#include <hvd/hvd.h>

#include <new>
#include <utility>

#include "collectives/comm_queue.h"
#include "worker/this_process.h"

namespace hvd {

struct WorkAccess {
  static Work Make(std::shared_ptr<PendingCall> call) {
    Work work;
    work.call_ = std::move(call);
    return work;
  }
};

namespace {

using Operation = CommQueue::Operation;

using Counts = std::vector<std::size_t>;

// `counts`, one for each rank, to be kept by an operation: the caller's may be
// gone when it is done.
Counts ForEachRank(const Counts& counts, const char* what) {
  const auto size = static_cast<std::size_t>(Size());
  if (counts.size() != size) {
    throw std::invalid_argument(
        "hvd: " + std::string(what) + " has " + std::to_string(counts.size()) +
        " counts for a world of " + std::to_string(size));
  }
  return counts;
}

// The operations themselves, to be done now or later.
auto Reducing(const void* in, void* out, std::size_t count, DataType type,
              ReduceOp op) {
  return [=](Communicator& c) { return c.AllReduce(in, out, count, type, op); };
}

auto ReducingAll(std::vector<Tensor> tensors, DataType type, ReduceOp op) {
  GroupedReduce& grouped = *Process().grouped;
  return [&grouped, tensors = std::move(tensors), type, op](Communicator& c) {
    return grouped.AllReduce(c, tensors, type, op);
  };
}

auto Scattering(const void* in, void* out, std::size_t count, DataType type,
                ReduceOp op) {
  return [=](Communicator& c) {
    return c.ReduceScatter(in, out, count, type, op);
  };
}

auto Broadcasting(void* data, std::size_t count, DataType type, int root) {
  return [=](Communicator& c) { return c.Broadcast(data, count, type, root); };
}

auto Gathering(const void* in, void* out, std::size_t count, DataType type) {
  return [=](Communicator& c) {
    return c.AllGather(in, out, Shares(count, c.size()), type);
  };
}

auto GatheringUneven(const void* in, void* out, const Counts& counts,
                     DataType type) {
  return [=, kept = ForEachRank(counts, "allgather")](Communicator& c) {
    return c.AllGather(in, out, Shares(kept), type);
  };
}

auto Exchanging(const void* in, void* out, std::size_t count, DataType type) {
  return [=](Communicator& c) {
    const Shares each(count, c.size());
    return c.AllToAll(in, each, out, each, type);
  };
}

auto ExchangingUneven(const void* in, const Counts& sent, void* out,
                      const Counts& received, DataType type) {
  return [=, from = ForEachRank(sent, "alltoall (sent)"),
          to = ForEachRank(received, "alltoall (received)")](Communicator& c) {
    return c.AllToAll(in, Shares(from), out, Shares(to), type);
  };
}

auto Meeting() {
  return [](Communicator& c) { return c.Barrier(); };
}

Work Issue(Operation operation) {
  return WorkAccess::Make(JoinedHere().queue().Issue(std::move(operation)));
}

}  // namespace

void AllReduce(const void* in, void* out, std::size_t count, DataType type,
               ReduceOp op) {
  Collective(Reducing(in, out, count, type, op));
}

void AllReduce(const std::vector<Tensor>& tensors, DataType type, ReduceOp op) {
  JoinedHere();
  Collective([&](Communicator& c) {
    return Process().grouped->AllReduce(c, tensors, type, op);
  });
}

void ReduceScatter(const void* in, void* out, std::size_t count, DataType type,
                   ReduceOp op) {
  Collective(Scattering(in, out, count, type, op));
}

void Broadcast(void* data, std::size_t count, DataType type, int root) {
  Collective(Broadcasting(data, count, type, root));
}

void AllGather(const void* in, void* out, std::size_t count, DataType type) {
  Collective(Gathering(in, out, count, type));
}

void AllGather(const void* in, void* out,
               const std::vector<std::size_t>& counts, DataType type) {
  Collective(GatheringUneven(in, out, counts, type));
}

void AllToAll(const void* in, void* out, std::size_t count, DataType type) {
  Collective(Exchanging(in, out, count, type));
}

void AllToAll(const void* in, const std::vector<std::size_t>& sent, void* out,
              const std::vector<std::size_t>& received, DataType type) {
  Collective(ExchangingUneven(in, sent, out, received, type));
}

void Barrier() { Collective(Meeting()); }

// ---- without waiting
// ----------------------------------------------------------

Work::Work() = default;
Work::Work(const Work& other) = default;
Work& Work::operator=(const Work& other) = default;
Work::~Work() = default;

bool Work::Test() const { return WaitFor(std::chrono::milliseconds(0)); }

bool Work::WaitFor(std::chrono::milliseconds limit) const {
  if (call_ == nullptr) return true;
  const std::optional<Status> status =
      call_->WaitUntil(SteadyClock().Now() + limit);
  if (status) ThrowIfFailed(*status);
  return status.has_value();
}

void Work::Wait() const {
  if (call_ != nullptr) ThrowIfFailed(call_->Wait());
}

Work AllReduceAsync(const void* in, void* out, std::size_t count, DataType type,
                    ReduceOp op) {
  return Issue(Reducing(in, out, count, type, op));
}

Work AllReduceAsync(const std::vector<Tensor>& tensors, DataType type,
                    ReduceOp op) {
  JoinedHere();
  return Issue(ReducingAll(tensors, type, op));
}

Work ReduceScatterAsync(const void* in, void* out, std::size_t count,
                        DataType type, ReduceOp op) {
  return Issue(Scattering(in, out, count, type, op));
}

Work BroadcastAsync(void* data, std::size_t count, DataType type, int root) {
  return Issue(Broadcasting(data, count, type, root));
}

Work AllGatherAsync(const void* in, void* out, std::size_t count,
                    DataType type) {
  return Issue(Gathering(in, out, count, type));
}

Work AllGatherAsync(const void* in, void* out,
                    const std::vector<std::size_t>& counts, DataType type) {
  return Issue(GatheringUneven(in, out, counts, type));
}

Work AllToAllAsync(const void* in, void* out, std::size_t count,
                   DataType type) {
  return Issue(Exchanging(in, out, count, type));
}

Work AllToAllAsync(const void* in, const std::vector<std::size_t>& sent,
                   void* out, const std::vector<std::size_t>& received,
                   DataType type) {
  return Issue(ExchangingUneven(in, sent, out, received, type));
}

Work BarrierAsync() { return Issue(Meeting()); }

// ---- memory and counters
// ------------------------------------------------------

void* Alloc(std::size_t bytes) {
  Joined();
  SharedHeap* const heap = Process().heap.get();
  void* const memory = heap == nullptr ? nullptr : heap->Allocate(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Free(void* memory) {
  if (memory == nullptr) return;
  SharedHeap* const heap = Process().heap.get();
  if (heap == nullptr || !heap->Free(memory)) {
    throw std::invalid_argument("hvd: Free: Alloc did not return that");
  }
}

Counters CountersOf(Call call) {
  const CallTotals totals = Joined().communicator().ledger().TotalsOf(call);
  return {totals.operations, totals.bytes, totals.time, totals.longest};
}

}  // namespace hvd
