#include "cmd/perf_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace hvd {
namespace {

// 16-bit floats whose values are small multiples of an eighth are exact in
// both formats; that is all the data there is.
float FromBits16(std::uint16_t bits, DataType type) {
  if (type == DataType::kBfloat16) {
    return std::bit_cast<float>(std::uint32_t{bits} << 16U);
  }
  const std::uint32_t exponent = (bits >> 10U) & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(fraction), -24)
                              : std::ldexp(static_cast<float>(fraction + 1024),
                                           static_cast<int>(exponent) - 25);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

std::uint16_t ToBits16(float value, DataType type) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (type == DataType::kBfloat16) {
    return static_cast<std::uint16_t>(bits >> 16U);
  }
  if (value == 0) return static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
  const std::uint32_t exponent = ((bits >> 23U) & 0xffU) - 112;
  return static_cast<std::uint16_t>((bits >> 16U & 0x8000U) | exponent << 10U |
                                    (bits >> 13U & 0x3ffU));
}

template <class T>
double Read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return static_cast<double>(value);
}

template <class T>
void Write(std::byte* at, double value) {
  const T element = static_cast<T>(value);
  std::memcpy(at, &element, sizeof(element));
}

double ReadElement(const std::byte* at, DataType type) {
  switch (type) {
    case DataType::kInt32:
      return Read<std::int32_t>(at);
    case DataType::kInt64:
      return Read<std::int64_t>(at);
    case DataType::kFloat32:
      return Read<float>(at);
    case DataType::kFloat64:
      return Read<double>(at);
    case DataType::kUint8:
      return Read<std::uint8_t>(at);
    case DataType::kInt8:
      return Read<std::int8_t>(at);
    case DataType::kFloat16:
    case DataType::kBfloat16: {
      std::uint16_t bits = 0;
      std::memcpy(&bits, at, sizeof(bits));
      return static_cast<double>(FromBits16(bits, type));
    }
  }
  HVD_CHECK(false);
}

void WriteElement(std::byte* at, DataType type, double value) {
  switch (type) {
    case DataType::kInt32:
      return Write<std::int32_t>(at, value);
    case DataType::kInt64:
      return Write<std::int64_t>(at, value);
    case DataType::kFloat32:
      return Write<float>(at, value);
    case DataType::kFloat64:
      return Write<double>(at, value);
    case DataType::kUint8:
      return Write<std::uint8_t>(at, value);
    case DataType::kInt8:
      return Write<std::int8_t>(at, value);
    case DataType::kFloat16:
    case DataType::kBfloat16: {
      const std::uint16_t bits = ToBits16(static_cast<float>(value), type);
      std::memcpy(at, &bits, sizeof(bits));
      return;
    }
  }
  HVD_CHECK(false);
}

bool IsFloat(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kFloat64 ||
         type == DataType::kFloat16 || type == DataType::kBfloat16;
}

// Of one rounding, times the ranks, the greatest relative error there may be.
double Tolerance(DataType type) {
  if (type == DataType::kFloat64) return 0x1p-52;
  if (type == DataType::kFloat32) return 0x1p-23;
  return type == DataType::kFloat16 ? 0x1p-10 : 0x1p-7;
}

double Random(unsigned long seed, int rank, std::size_t i, DataType type) {
  std::uint64_t x =
      (seed << 48U) ^ (static_cast<std::uint64_t>(rank) << 36U) ^ (i + 1);
  x = (x ^ (x >> 31U)) * 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 29U)) * 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 32U;
  // 0 to 3 for integers, whose sums and products stay exact in double.
  if (!IsFloat(type)) return static_cast<double>(x % 4);
  return static_cast<double>(x % 33) / 8.0 - 2.0;
}

double Wrapped(double value, DataType type) {
  const auto whole = static_cast<std::int64_t>(value);
  if (type == DataType::kUint8) return static_cast<std::uint8_t>(whole);
  if (type == DataType::kInt8) return static_cast<std::int8_t>(whole);
  if (type == DataType::kInt32) return static_cast<std::int32_t>(whole);
  return value;
}

}  // namespace

DataType PerfType(const std::string& name) {
  if (name == "u8") return DataType::kUint8;
  if (name == "i8") return DataType::kInt8;
  if (name == "i32") return DataType::kInt32;
  if (name == "i64") return DataType::kInt64;
  if (name == "f16") return DataType::kFloat16;
  if (name == "bf16") return DataType::kBfloat16;
  if (name == "f64") return DataType::kFloat64;
  HVD_CHECK(name == "f32");
  return DataType::kFloat32;
}

ReduceOp PerfReduction(const std::string& name) {
  if (name == "average") return ReduceOp::kAverage;
  if (name == "min") return ReduceOp::kMin;
  if (name == "max") return ReduceOp::kMax;
  if (name == "product") return ReduceOp::kProduct;
  HVD_CHECK(name == "sum");
  return ReduceOp::kSum;
}

std::size_t PerfElementSize(const std::string& type) {
  if (type == "u8" || type == "i8") return 1;
  if (type == "f16" || type == "bf16") return 2;
  return type == "i64" || type == "f64" ? 8 : 4;
}

void PerfData::Fill(std::byte* out, int rank, std::size_t count) const {
  const DataType type = PerfType(type_);
  const std::size_t element = PerfElementSize(type_);
  for (std::size_t i = 0; i < count; ++i) {
    WriteElement(out + i * element, type, Random(seed_, rank, i, type));
  }
}

std::size_t PerfData::WrongReduced(const std::byte* data, std::size_t begin,
                                   std::size_t count, int ranks) const {
  const DataType type = PerfType(type_);
  const ReduceOp op = PerfReduction(reduction_);
  const std::size_t element = PerfElementSize(type_);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double expected = Random(seed_, 0, begin + i, type);
    double size = std::abs(expected);  // of what was rounded on the way
    for (int rank = 1; rank < ranks; ++rank) {
      const double next = Random(seed_, rank, begin + i, type);
      if (op == ReduceOp::kMin) expected = std::min(expected, next);
      if (op == ReduceOp::kMax) expected = std::max(expected, next);
      if (op == ReduceOp::kProduct) expected *= next;
      if (op == ReduceOp::kSum || op == ReduceOp::kAverage) expected += next;
      size = std::max(size + std::abs(next), std::abs(expected));
    }
    if (!IsFloat(type)) expected = Wrapped(expected, type);
    if (op == ReduceOp::kAverage) expected /= ranks;
    const double got = ReadElement(data + i * element, type);
    const bool right = IsFloat(type) ? std::abs(got - expected) <=
                                           Tolerance(type) * size * ranks
                                     : got == std::trunc(expected);
    if (!right) ++wrong;
  }
  return wrong;
}

std::size_t PerfData::WrongCopied(const std::byte* data, int from,
                                  std::size_t begin, std::size_t count) const {
  const DataType type = PerfType(type_);
  const std::size_t element = PerfElementSize(type_);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double got = ReadElement(data + i * element, type);
    if (got != Random(seed_, from, begin + i, type)) ++wrong;
  }
  return wrong;
}

}  // namespace hvd
