#include <hvd/hvd.h>
#include <hvd/hvd_c.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "worker/c_call.h"

struct hvd_work {
  hvd::Work work;
};

namespace {

using hvd::Guard;
using hvd::OpFrom;
using hvd::TypeFrom;

template <class T>
T* NotNull(T* pointer, const char* name) {
  if (pointer == nullptr) {
    throw std::invalid_argument(std::string(name) + " must not be NULL");
  }
  return pointer;
}

std::vector<std::size_t> CountsFrom(const size_t* counts, const char* name) {
  NotNull(counts, name);
  return {counts, counts + hvd::Size()};
}

std::vector<hvd::Tensor> TensorsFrom(const hvd_tensor* tensors, size_t length) {
  if (length > 0) NotNull(tensors, "tensors");
  std::vector<hvd::Tensor> list;
  for (size_t i = 0; i < length; ++i) {
    list.push_back({tensors[i].in, tensors[i].out, tensors[i].count});
  }
  return list;
}

// Calls `issue` and gives what it returns to the caller.
template <class Issue>
int GiveWork(hvd_work** work, const Issue& issue) {
  return Guard([&] {
    NotNull(work, "work");
    auto made = std::make_unique<hvd_work>();
    made->work = issue();
    *work = made.release();
    return 0;
  });
}

hvd::Call CallFrom(int call) {
  if (call < HVD_CALL_ALLREDUCE || call > HVD_CALL_ALLTOALL) {
    throw std::invalid_argument(
        "call must be HVD_CALL_ALLREDUCE to HVD_CALL_ALLTOALL, got " +
        std::to_string(call));
  }
  return static_cast<hvd::Call>(call);
}

}  // namespace

extern "C" {

int hvd_allgatherv(const void* in, void* out, const size_t* counts, int type) {
  return Guard([=] {
    hvd::AllGather(in, out, CountsFrom(counts, "counts"), TypeFrom(type));
    return 0;
  });
}

int hvd_reduce_scatter(const void* in, void* out, size_t count, int type,
                       int op) {
  return Guard([=] {
    hvd::ReduceScatter(in, out, count, TypeFrom(type), OpFrom(op));
    return 0;
  });
}

int hvd_alltoall(const void* in, void* out, size_t count, int type) {
  return Guard([=] {
    hvd::AllToAll(in, out, count, TypeFrom(type));
    return 0;
  });
}

int hvd_alltoallv(const void* in, const size_t* sent, void* out,
                  const size_t* received, int type) {
  return Guard([=] {
    hvd::AllToAll(in, CountsFrom(sent, "sent"), out,
                  CountsFrom(received, "received"), TypeFrom(type));
    return 0;
  });
}

int hvd_allreduce_grouped(const hvd_tensor* tensors, size_t length, int type,
                          int op) {
  return Guard([=] {
    hvd::AllReduce(TensorsFrom(tensors, length), TypeFrom(type), OpFrom(op));
    return 0;
  });
}

int hvd_allreduce_async(const void* in, void* out, size_t count, int type,
                        int op, hvd_work** work) {
  return GiveWork(work, [=] {
    return hvd::AllReduceAsync(in, out, count, TypeFrom(type), OpFrom(op));
  });
}

int hvd_allreduce_grouped_async(const hvd_tensor* tensors, size_t length,
                                int type, int op, hvd_work** work) {
  return GiveWork(work, [=] {
    return hvd::AllReduceAsync(TensorsFrom(tensors, length), TypeFrom(type),
                               OpFrom(op));
  });
}

int hvd_reduce_scatter_async(const void* in, void* out, size_t count, int type,
                             int op, hvd_work** work) {
  return GiveWork(work, [=] {
    return hvd::ReduceScatterAsync(in, out, count, TypeFrom(type), OpFrom(op));
  });
}

int hvd_broadcast_async(void* data, size_t count, int type, int root,
                        hvd_work** work) {
  return GiveWork(work, [=] {
    return hvd::BroadcastAsync(data, count, TypeFrom(type), root);
  });
}

int hvd_allgather_async(const void* in, void* out, size_t count, int type,
                        hvd_work** work) {
  return GiveWork(work, [=] {
    return hvd::AllGatherAsync(in, out, count, TypeFrom(type));
  });
}

int hvd_allgatherv_async(const void* in, void* out, const size_t* counts,
                         int type, hvd_work** work) {
  return GiveWork(work, [=] {
    return hvd::AllGatherAsync(in, out, CountsFrom(counts, "counts"),
                               TypeFrom(type));
  });
}

int hvd_alltoall_async(const void* in, void* out, size_t count, int type,
                       hvd_work** work) {
  return GiveWork(
      work, [=] { return hvd::AllToAllAsync(in, out, count, TypeFrom(type)); });
}

int hvd_alltoallv_async(const void* in, const size_t* sent, void* out,
                        const size_t* received, int type, hvd_work** work) {
  return GiveWork(work, [=] {
    return hvd::AllToAllAsync(in, CountsFrom(sent, "sent"), out,
                              CountsFrom(received, "received"), TypeFrom(type));
  });
}

int hvd_barrier_async(hvd_work** work) {
  return GiveWork(work, [] { return hvd::BarrierAsync(); });
}

int hvd_work_test(hvd_work* work) { return hvd_work_wait_for(work, 0); }

int hvd_work_wait_for(hvd_work* work, uint64_t limit_ms) {
  // More would overflow the clock.
  constexpr uint64_t kYear = 366ULL * 24 * 3600 * 1000;
  return Guard([=] {
    const auto limit = std::chrono::milliseconds(
        static_cast<std::int64_t>(limit_ms < kYear ? limit_ms : kYear));
    return NotNull(work, "work")->work.WaitFor(limit) ? 1 : 0;
  });
}

int hvd_work_wait(hvd_work* work) {
  return Guard([=] {
    NotNull(work, "work")->work.Wait();
    return 1;
  });
}

int hvd_work_free(hvd_work* work) {
  const std::unique_ptr<hvd_work> freed(work);
  return 0;
}

int hvd_alloc(size_t bytes, void** memory) {
  return Guard([=] {
    *NotNull(memory, "memory") = hvd::Alloc(bytes);
    return 0;
  });
}

int hvd_free(void* memory) {
  return Guard([=] {
    hvd::Free(memory);
    return 0;
  });
}

int hvd_counters_of(int call, hvd_counters* counters) {
  return Guard([=] {
    const hvd::Counters read = hvd::CountersOf(CallFrom(call));
    *NotNull(counters, "counters") = {
        read.operations, read.bytes, static_cast<uint64_t>(read.time.count()),
        static_cast<uint64_t>(read.longest.count())};
    return 0;
  });
}

}  // extern "C"
