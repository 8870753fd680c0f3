#include "base/clock.h"

#include <time.h>

namespace hvd {

Instant ThreadTime::Now() const {
  timespec computed{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &computed);
  return Instant(std::chrono::seconds(computed.tv_sec) +
                 std::chrono::nanoseconds(computed.tv_nsec));
}

std::chrono::system_clock::time_point WallNow() {
  return std::chrono::system_clock::now();
}

}  // namespace hvd
