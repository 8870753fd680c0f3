// DataType, ReduceOp: what an array holds and how arrays are combined.
#pragma once

#include <cstdint>

namespace hvd {

// The numbers are those of hvd_c.h and stay.
enum class DataType : std::uint8_t {
  kInt32,
  kInt64,
  kFloat32,
  kFloat64,
  kUint8,
  kInt8,
  kFloat16,   // IEEE 754 half precision
  kBfloat16,  // the upper half of a float
};
enum class ReduceOp : std::uint8_t { kSum, kAverage, kMin, kMax, kProduct };

// What an array of 16-bit floats is made of in C++: the bits alone, to be
// converted by whoever computes with them.
struct Float16 {
  std::uint16_t bits = 0;
  friend bool operator==(Float16 a, Float16 b) { return a.bits == b.bits; }
};
struct Bfloat16 {
  std::uint16_t bits = 0;
  friend bool operator==(Bfloat16 a, Bfloat16 b) { return a.bits == b.bits; }
};

}  // namespace hvd
