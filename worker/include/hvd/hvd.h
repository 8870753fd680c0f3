// libhvd for C++: join the job that hvdrun started, and average gradients.
//
//   #include <hvd/hvd.h>
//
//   int main() {
//     hvd::Init();
//     std::vector<float> grad(1000, 1.0F * hvd::Rank());
//     hvd::AllReduce(grad.data(), grad.size(), hvd::ReduceOp::kAverage);
//     if (hvd::Rank() == 0) std::printf("%f\n", grad[0]);
//   }
//
// Without hvdrun the same program runs as a world of one.
//
// Threads: one thread at a time may call in here (Init, collectives, Shutdown);
// the getters may be called from any thread after Init. Collectives block the
// calling thread, but for the ...Async ones. All ranks must make the same calls
// in the same order.
#pragma once

#include <hvd/call.h>
#include <hvd/data_type.h>
#include <hvd/tensor.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#if defined(__GNUC__)
#define HVD_API __attribute__((visibility("default")))
#else
#define HVD_API
#endif

namespace hvd {

class PendingCall;

// A collective cannot be completed: a rank died, went silent, or made another
// call. Every rank of the world gets it. The world is gone for good: further
// collectives throw it again at once, output buffers are undefined.
class HVD_API CommError : public std::runtime_error {
 public:
  CommError(int rank, const std::string& what);
  ~CommError() override;
  // The rank that failed; -1 when no one rank is to blame.
  int rank() const { return rank_; }

 private:
  int rank_;
};

// Joins the world that hvdrun made, or a world of one without hvdrun. Waits for
// the other workers until --start-timeout. Throws std::runtime_error (hvdrun
// cannot be reached, bad environment). A second call does nothing.
HVD_API void Init();
// Leaves the world. Called by itself at exit; afterwards Init may not be called
// again.
HVD_API void Shutdown();
HVD_API bool IsInitialized();

// Who this worker is; std::logic_error before Init.
HVD_API int Rank();
HVD_API int Size();
HVD_API int LocalRank();
HVD_API int LocalSize();
HVD_API int CrossRank();
HVD_API int CrossSize();
// The host's name as given to hvdrun; the machine's own without hvdrun.
HVD_API std::string Host();
// Counts the worlds of this job, from 1.
HVD_API std::uint64_t Epoch();

// ---- collectives ------------------------------------------------------------
//
// Counts are in elements; zero is allowed, and is a call like any other. Arrays
// need no alignment, and `in` and `out` do not overlap unless it says so. Sums
// and products of integers wrap, their averages are cut toward zero; 16-bit
// floats are combined in f32 and rounded once a host; in minimum and maximum a
// NaN wins. All ranks get the same bits, and the same as last time in a world
// with the same hosts. All throw CommError, and std::invalid_argument for what
// no world could do.

// Combines `in` over all ranks into `out` on every rank; in == out is allowed.
HVD_API void AllReduce(const void* in, void* out, std::size_t count,
                       DataType type, ReduceOp op = ReduceOp::kSum);
// Many arrays at once, packed into few transfers: for small ones.
HVD_API void AllReduce(const std::vector<Tensor>& tensors, DataType type,
                       ReduceOp op = ReduceOp::kSum);
// `in` holds Size() * count elements; the part of this rank, combined over all
// ranks, goes to `out`, which may be that part of `in`.
HVD_API void ReduceScatter(const void* in, void* out, std::size_t count,
                           DataType type, ReduceOp op = ReduceOp::kSum);
// Overwrites `count` elements on every rank with `root`'s.
HVD_API void Broadcast(void* data, std::size_t count, DataType type, int root);
// `out` holds Size() * count elements, in rank order; `in` may be this rank's
// part of it.
HVD_API void AllGather(const void* in, void* out, std::size_t count,
                       DataType type);
// The same where rank r has counts[r] elements, as all ranks say.
HVD_API void AllGather(const void* in, void* out,
                       const std::vector<std::size_t>& counts, DataType type);
// `count` elements to and from every rank, in rank order; in == out is allowed.
HVD_API void AllToAll(const void* in, void* out, std::size_t count,
                      DataType type);
// The same with sent[r] elements to rank r and received[r] from it; in == out
// is allowed if the counts are alike.
HVD_API void AllToAll(const void* in, const std::vector<std::size_t>& sent,
                      void* out, const std::vector<std::size_t>& received,
                      DataType type);
// Returns once every rank has entered.
HVD_API void Barrier();

// ---- without waiting
// ----------------------------------------------------------
//
// Done on the thread "hvd-comm" in the order of the calls, before any call that
// is made without it later. Arrays stay as they are until the work is done;
// count vectors are copied.

// A collective under way. Copies refer to the same one.
class HVD_API Work {
 public:
  Work();  // of nothing, done
  Work(const Work& other);
  Work& operator=(const Work& other);
  ~Work();

  // Whether it is done, if need be after `limit`. Throws CommError if it has
  // failed.
  bool Test() const;
  bool WaitFor(std::chrono::milliseconds limit) const;
  void Wait() const;

 private:
  friend struct WorkAccess;
  std::shared_ptr<PendingCall> call_;
};

HVD_API Work AllReduceAsync(const void* in, void* out, std::size_t count,
                            DataType type, ReduceOp op = ReduceOp::kSum);
HVD_API Work AllReduceAsync(const std::vector<Tensor>& tensors, DataType type,
                            ReduceOp op = ReduceOp::kSum);
HVD_API Work ReduceScatterAsync(const void* in, void* out, std::size_t count,
                                DataType type, ReduceOp op = ReduceOp::kSum);
HVD_API Work BroadcastAsync(void* data, std::size_t count, DataType type,
                            int root);
HVD_API Work AllGatherAsync(const void* in, void* out, std::size_t count,
                            DataType type);
HVD_API Work AllGatherAsync(const void* in, void* out,
                            const std::vector<std::size_t>& counts,
                            DataType type);
HVD_API Work AllToAllAsync(const void* in, void* out, std::size_t count,
                           DataType type);
HVD_API Work AllToAllAsync(const void* in, const std::vector<std::size_t>& sent,
                           void* out, const std::vector<std::size_t>& received,
                           DataType type);
// Done once every rank has come this far in what it issued.
HVD_API Work BarrierAsync();

// ---- memory and counters
// ------------------------------------------------------

// Memory that the other ranks of this host can reach, so that AllReduce need
// not copy arrays in it first. All zero, at the beginning of a page, and this
// process's alone to write outside of collectives. Throws std::bad_alloc. Any
// thread, after Init.
HVD_API void* Alloc(std::size_t bytes);
// Null is allowed. Throws std::invalid_argument for what Alloc did not return.
HVD_API void Free(void* memory);

// What this rank has done in its present world. Any thread, after Init.
struct Counters {
  std::uint64_t operations = 0;  // finished; one for each transfer
  std::uint64_t bytes = 0;       // of this rank's input
  std::chrono::nanoseconds time{0};
  std::chrono::nanoseconds longest{0};  // of one operation
};
HVD_API Counters CountersOf(Call call);

// A line on hvdrun's terminal, also with --driver-log callback-only. At most
// 4000 bytes of `text` are shown, a mark says so. Without hvdrun: stdout.
// Throws std::runtime_error if hvdrun cannot be reached.
HVD_API void LogToDriver(std::string_view text);
// Rank 0's last value is what --result-file holds if the job succeeds. At most
// 64 MiB: std::invalid_argument. Other ranks' values are ignored.
HVD_API void SetResult(std::string_view bytes);

// ---- the same with types -------------------------------------------------

template <class T>
struct DataTypeOf;
template <>
struct DataTypeOf<std::int32_t> {
  static constexpr DataType kValue = DataType::kInt32;
};
template <>
struct DataTypeOf<std::int64_t> {
  static constexpr DataType kValue = DataType::kInt64;
};
template <>
struct DataTypeOf<float> {
  static constexpr DataType kValue = DataType::kFloat32;
};
template <>
struct DataTypeOf<double> {
  static constexpr DataType kValue = DataType::kFloat64;
};
template <>
struct DataTypeOf<std::uint8_t> {
  static constexpr DataType kValue = DataType::kUint8;
};
template <>
struct DataTypeOf<std::int8_t> {
  static constexpr DataType kValue = DataType::kInt8;
};
template <>
struct DataTypeOf<Float16> {
  static constexpr DataType kValue = DataType::kFloat16;
};
template <>
struct DataTypeOf<Bfloat16> {
  static constexpr DataType kValue = DataType::kBfloat16;
};

// In place.
template <class T>
void AllReduce(T* data, std::size_t count, ReduceOp op = ReduceOp::kSum) {
  AllReduce(data, data, count, DataTypeOf<T>::kValue, op);
}
template <class T>
void Broadcast(T* data, std::size_t count, int root) {
  Broadcast(data, count, DataTypeOf<T>::kValue, root);
}
template <class T>
void AllGather(const T* in, T* out, std::size_t count) {
  AllGather(in, out, count, DataTypeOf<T>::kValue);
}
template <class T>
void ReduceScatter(const T* in, T* out, std::size_t count,
                   ReduceOp op = ReduceOp::kSum) {
  ReduceScatter(in, out, count, DataTypeOf<T>::kValue, op);
}
template <class T>
void AllToAll(const T* in, T* out, std::size_t count) {
  AllToAll(in, out, count, DataTypeOf<T>::kValue);
}
// In place.
template <class T>
Work AllReduceAsync(T* data, std::size_t count, ReduceOp op = ReduceOp::kSum) {
  return AllReduceAsync(data, data, count, DataTypeOf<T>::kValue, op);
}

}  // namespace hvd
