// OrphanSweep: ends what a dead keeper left behind, from inside hvdrun.
//
// hvdrun is a child subreaper too: when its keeper is killed, the workers and
// all that they started become hvdrun's children. This stops them as the keeper
// would have, and reaps them.
//
// Loop thread only.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/descendants.h"
#include "base/event_loop.h"
#include "launcher/stop_sweep.h"

namespace hvd {

class OrphanSweep {
 public:
  // `spare(pid)`: a direct child that is none of the keeper's (a discovery
  // script); it and what is below it are left alone. May be empty.
  // `done(left)` runs once, on the loop; never after destruction.
  OrphanSweep(EventLoop& loop, Duration grace, std::function<bool(pid_t)> spare,
              std::function<void(int)> done);

  // SIGKILL becomes due at `when` at the latest.
  void KillBy(Instant when);

 private:
  void Step();
  std::vector<ProcessInfo> Orphans() const;
  void Reap(const std::vector<ProcessInfo>& orphans) const;

  EventLoop& loop_;
  std::function<bool(pid_t)> spare_;
  std::function<void(int)> done_;
  StopSweep sweep_;
  std::unique_ptr<Timer> timer_;
};

}  // namespace hvd
