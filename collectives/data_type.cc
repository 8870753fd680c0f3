#include "collectives/data_type.h"

#include "base/check.h"

namespace hvd {

std::size_t SizeOf(DataType type) {
  switch (type) {
    case DataType::kUint8:
    case DataType::kInt8:
      return 1;
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return 2;
    case DataType::kInt32:
    case DataType::kFloat32:
      return 4;
    case DataType::kInt64:
    case DataType::kFloat64:
      return 8;
  }
  HVD_CHECK(false);
}

std::string_view Name(DataType type) {
  switch (type) {
    case DataType::kInt32:
      return "i32";
    case DataType::kInt64:
      return "i64";
    case DataType::kFloat32:
      return "f32";
    case DataType::kFloat64:
      return "f64";
    case DataType::kUint8:
      return "u8";
    case DataType::kInt8:
      return "i8";
    case DataType::kFloat16:
      return "f16";
    case DataType::kBfloat16:
      return "bf16";
  }
  return "unknown-type";
}

std::string_view Name(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kAverage:
      return "average";
    case ReduceOp::kMin:
      return "min";
    case ReduceOp::kMax:
      return "max";
    case ReduceOp::kProduct:
      return "product";
  }
  return "unknown-op";
}

std::optional<DataType> TypeNamed(std::string_view name) {
  for (int i = 0; i < kDataTypes; ++i) {
    if (Name(static_cast<DataType>(i)) == name) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

std::optional<ReduceOp> OpNamed(std::string_view name) {
  for (int i = 0; i < kReduceOps; ++i) {
    if (Name(static_cast<ReduceOp>(i)) == name) return static_cast<ReduceOp>(i);
  }
  return std::nullopt;
}

bool IsNarrow(DataType type) {
  return type == DataType::kFloat16 || type == DataType::kBfloat16;
}

}  // namespace hvd
