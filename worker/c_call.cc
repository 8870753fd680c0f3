#include "worker/c_call.h"

namespace hvd {

LastError& ThreadLastError() {
  thread_local LastError last;
  return last;
}

DataType TypeFrom(int type) {
  if (type < HVD_INT32 || type > HVD_BFLOAT16) {
    throw std::invalid_argument("type must be HVD_INT32 to HVD_BFLOAT16, got " +
                                std::to_string(type));
  }
  return static_cast<DataType>(type);
}

ReduceOp OpFrom(int op) {
  if (op < HVD_SUM || op > HVD_PRODUCT) {
    throw std::invalid_argument("op must be HVD_SUM to HVD_PRODUCT, got " +
                                std::to_string(op));
  }
  return static_cast<ReduceOp>(op);
}

}  // namespace hvd
