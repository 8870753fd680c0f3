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
// calling thread. All ranks must make the same calls in the same order.
#pragma once

#include <hvd/data_type.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#if defined(__GNUC__)
#define HVD_API __attribute__((visibility("default")))
#else
#define HVD_API
#endif

namespace hvd {

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

// Combines the `count` elements of `in` over all ranks into `out` on every
// rank; in == out is allowed, other overlap is not. Sum of integers wraps.
// Average of integers divides toward zero. Throws CommError.
HVD_API void AllReduce(const void* in, void* out, std::size_t count,
                       DataType type, ReduceOp op = ReduceOp::kSum);
// Overwrites `count` elements on every rank with `root`'s. Throws CommError,
// std::invalid_argument for a root outside 0..size-1.
HVD_API void Broadcast(void* data, std::size_t count, DataType type, int root);
// `out` holds size * count elements, in rank order. Throws CommError.
HVD_API void AllGather(const void* in, void* out, std::size_t count,
                       DataType type);
// Returns once every rank has entered. Throws CommError.
HVD_API void Barrier();

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

}  // namespace hvd
