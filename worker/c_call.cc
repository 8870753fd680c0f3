#include "worker/c_call.h"

namespace hvd {

LastError& ThreadLastError() {
  thread_local LastError last;
  return last;
}

DataType TypeFrom(int type) {
  if (type < HVD_INT32 || type > HVD_FLOAT64) {
    throw std::invalid_argument("type must be HVD_INT32 to HVD_FLOAT64, got " +
                                std::to_string(type));
  }
  return static_cast<DataType>(type);
}

}  // namespace hvd
