// Reference: what a collective must give, computed the slow and plain way.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "collectives/data_type.h"

namespace hvd::testing {

// A small mixer, the same on every machine: element `i` of `rank`.
inline std::uint64_t Mixed(int rank, std::size_t i) {
  std::uint64_t x = (static_cast<std::uint64_t>(rank) << 40U) + i + 1;
  x ^= x >> 33U;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33U;
  return x;
}

// Over the whole range for integers, so that sums wrap; -1 to 1 for floats.
template <class T>
T ElementOf(int rank, std::size_t i) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(Mixed(rank, i));
  } else {
    return static_cast<T>(
        static_cast<double>(Mixed(rank, i) % 2'000'001) / 1e6 - 1.0);
  }
}

template <class T>
std::vector<T> ArrayOf(int rank, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = ElementOf<T>(rank, i);
  return values;
}

template <class T>
T ReducedElement(int size, std::size_t i, ReduceOp op) {
  using Wide =
      std::conditional_t<std::is_integral_v<T>, std::uint64_t, long double>;
  Wide sum = 0;
  T low = ElementOf<T>(0, i);
  T high = low;
  for (int rank = 0; rank < size; ++rank) {
    const T value = ElementOf<T>(rank, i);
    sum += static_cast<Wide>(value);
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const T total = static_cast<T>(sum);  // integers: modulo their range
  switch (op) {
    case ReduceOp::kSum:
      return total;
    case ReduceOp::kAverage:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(total / size);
      } else {
        return static_cast<T>(sum / size);
      }
    case ReduceOp::kMin:
      return low;
    case ReduceOp::kMax:
      return high;
  }
  return T{};
}

// Integers, minima and maxima exactly; sums of floats to a few roundings.
template <class T>
bool Agrees(T got, T expected, int size, ReduceOp op) {
  if constexpr (std::is_integral_v<T>) {
    return got == expected;
  } else {
    if (op == ReduceOp::kMin || op == ReduceOp::kMax) return got == expected;
    const T epsilon = std::is_same_v<T, float> ? T(1.2e-7) : T(2.3e-16);
    return std::abs(got - expected) <= epsilon * static_cast<T>(2 * size);
  }
}

template <class T>
struct DataTypeFor;
template <>
struct DataTypeFor<std::int32_t> {
  static constexpr DataType kValue = DataType::kInt32;
};
template <>
struct DataTypeFor<std::int64_t> {
  static constexpr DataType kValue = DataType::kInt64;
};
template <>
struct DataTypeFor<float> {
  static constexpr DataType kValue = DataType::kFloat32;
};
template <>
struct DataTypeFor<double> {
  static constexpr DataType kValue = DataType::kFloat64;
};

}  // namespace hvd::testing
