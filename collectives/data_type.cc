#include "collectives/data_type.h"

#include "base/check.h"

namespace hvd {

std::size_t SizeOf(DataType type) {
  switch (type) {
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
  }
  return "unknown-op";
}

}  // namespace hvd
