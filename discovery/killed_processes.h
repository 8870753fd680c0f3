// KilledProcesses: those that were sent SIGKILL, until they have ended.
//
// hvdrun is a subreaper: what a script leaves behind becomes hvdrun's child,
// whom it has to reap. Kills nothing itself.
//
// Loop thread only.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "base/event_loop.h"
#include "base/unique_fd.h"

namespace hvd {

class KilledProcesses {
 public:
  explicit KilledProcesses(EventLoop& loop) : loop_(loop) {}
  // Waits for what has not ended yet, at most half a second.
  ~KilledProcesses();
  KilledProcesses(const KilledProcesses&) = delete;
  KilledProcesses& operator=(const KilledProcesses&) = delete;

  void Add(std::vector<UniqueFd> pidfds);
  bool empty() const { return processes_.empty(); }

 private:
  struct Killed {
    UniqueFd pidfd;
    std::unique_ptr<FdWatch> watch;  // null: it has ended
  };

  void OnEnded(Killed& killed);
  void ReapAll();

  EventLoop& loop_;
  std::list<Killed> processes_;
};

}  // namespace hvd
