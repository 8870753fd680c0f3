#include "collectives/wait_policy.h"

#include <sched.h>

namespace hvd {
bool Looking::Again(Instant now) {
  if (!began_) since_ = now;
  began_ = true;
  if (now - since_ < policy_.spin) {
    Pause();
    return true;
  }
  if (yields_left_ == 0) return false;
  --yields_left_;
  ::sched_yield();
  return true;
}

int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails only where the machine has more than 1024 of them.
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return CPU_COUNT(&set);
}

}  // namespace hvd
