#include "base/clock.h"

namespace hvd {

std::chrono::system_clock::time_point WallNow() {
  return std::chrono::system_clock::now();
}

}  // namespace hvd
