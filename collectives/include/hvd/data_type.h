// DataType, ReduceOp: what an array holds and how arrays are combined.
#pragma once

#include <cstdint>

namespace hvd {

enum class DataType : std::uint8_t { kInt32, kInt64, kFloat32, kFloat64 };
enum class ReduceOp : std::uint8_t { kSum, kAverage, kMin, kMax };

}  // namespace hvd
