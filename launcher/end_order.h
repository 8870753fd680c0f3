// EndOrder: in which order processes ended, as the kernel saw it.
//
// waitpid() names those that have ended by their order of birth, so of several
// that ended since the last look it can't say who was first. A pidfd turns
// readable as its process ends, and epoll lists descriptors in the order in
// which they did. Keeper's thread only.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <vector>

#include "base/unique_fd.h"

namespace hvd {

class EndOrder {
 public:
  EndOrder();

  // Watches `pid`, a child that is not reaped yet. One that can't be watched
  // (too many open files) counts as having ended after all others.
  void Watch(pid_t pid);
  // Where `pid`, which has ended, stands among those that have: 0 is the first.
  std::size_t PlaceOf(pid_t pid);
  // `pid` is reaped: the number may come again.
  void Forget(pid_t pid);

 private:
  void Look();

  UniqueFd epoll_;
  std::map<pid_t, UniqueFd> watched_;
  std::vector<pid_t> ended_;  // in order, not forgotten yet
};

}  // namespace hvd
