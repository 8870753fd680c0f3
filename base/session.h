// Session: ending all that a child has left in its session.
//
// What has left the session (a daemon that called setsid) is not found.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/unique_fd.h"

namespace hvd {

// SIGKILL to each process in the session of `leader`, until a look at /proc
// finds no new one. `leader` is a child that Spawn started and that is not
// reaped yet: till then its number is nobody else's.
//
// Returns a pidfd for each of the others, those that have ended included. Once
// all of them and the leader have ended, they are children of the next
// subreaper above the leader, who has to reap them.
std::vector<UniqueFd> KillSession(pid_t leader);

}  // namespace hvd
