// Reference: what a collective must give, computed the slow and plain way.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "collectives/data_type.h"
#include "collectives/half.h"

namespace hvd::testing {

// A small mixer, the same on every machine: element `i` of `rank`.
inline std::uint64_t Mixed(int rank, std::size_t i) {
  std::uint64_t x = (static_cast<std::uint64_t>(rank) << 40U) + i + 1;
  x ^= x >> 33U;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33U;
  return x;
}

// What an element counts as: 16-bit floats through f32, which is exact.
template <class T>
long double ValueOf(T element) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>) {
    return static_cast<long double>(ToFloat(element));
  } else {
    return static_cast<long double>(element);
  }
}

template <class T>
T ElementFrom(double value) {
  if constexpr (std::is_same_v<T, Float16>) {
    return ToFloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return ToBfloat16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// Over the whole range for integers, so that sums wrap; -1 to 1 for floats.
template <class T>
T ElementOf(int rank, std::size_t i) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(Mixed(rank, i));
  } else {
    return ElementFrom<T>(
        static_cast<double>(Mixed(rank, i) % 2'000'001) / 1e6 - 1.0);
  }
}

template <class T>
std::vector<T> ArrayOf(int rank, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = ElementOf<T>(rank, i);
  return values;
}

// Integers modulo their range, floats as exactly as may be.
template <class T>
using Exact = std::conditional_t<std::is_integral_v<T>, T, long double>;

template <class T>
Exact<T> ReducedElement(int size, std::size_t i, ReduceOp op) {
  using Wide =
      std::conditional_t<std::is_integral_v<T>, std::uint64_t, long double>;
  Wide sum = 0;
  Wide product = 1;
  auto low = static_cast<Exact<T>>(ValueOf(ElementOf<T>(0, i)));
  Exact<T> high = low;
  for (int rank = 0; rank < size; ++rank) {
    const auto value = static_cast<Exact<T>>(ValueOf(ElementOf<T>(rank, i)));
    sum += static_cast<Wide>(value);
    product *= static_cast<Wide>(value);
    if (value < low) low = value;
    if (value > high) high = value;
  }
  switch (op) {
    case ReduceOp::kSum:
      return static_cast<Exact<T>>(sum);
    case ReduceOp::kProduct:
      return static_cast<Exact<T>>(product);
    case ReduceOp::kAverage:
      return static_cast<Exact<T>>(static_cast<Exact<T>>(sum) / size);
    case ReduceOp::kMin:
      return low;
    case ReduceOp::kMax:
      return high;
  }
  return {};
}

// Half of the distance from 1 to the next number.
template <class T>
constexpr long double RoundingOf() {
  if (std::is_same_v<T, Bfloat16>) return 0x1p-8L;
  if (std::is_same_v<T, Float16>) return 0x1p-11L;
  return std::is_same_v<T, float> ? 0x1p-24L : 0x1p-53L;
}

// Integers, minima and maxima exactly; floats to `roundings` of a number of the
// size of the partial results, which are at most `size` here.
template <class T>
bool Agrees(T got, Exact<T> expected, int size, ReduceOp op,
            int roundings = 0) {
  if constexpr (std::is_integral_v<T>) {
    return got == expected;
  } else {
    if (op == ReduceOp::kMin || op == ReduceOp::kMax) {
      return ValueOf(got) == expected;
    }
    if (roundings == 0) roundings = 2 * size;
    return std::abs(ValueOf(got) - expected) <= RoundingOf<T>() * roundings;
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
struct DataTypeFor<std::uint8_t> {
  static constexpr DataType kValue = DataType::kUint8;
};
template <>
struct DataTypeFor<std::int8_t> {
  static constexpr DataType kValue = DataType::kInt8;
};
template <>
struct DataTypeFor<Float16> {
  static constexpr DataType kValue = DataType::kFloat16;
};
template <>
struct DataTypeFor<Bfloat16> {
  static constexpr DataType kValue = DataType::kBfloat16;
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
