// SpawnWorker: one process from a KeeperLaunch, with the limits of an exec seen
// to.
//
// The user's limit on open files is in force during the spawn only; the caller
// keeps its own. An environment that needs more than a quarter of the soft
// stack limit raises the limit for the exec; the worker gets the user's own
// back as soon as its exec is done. What it computed from the limit before that
// (glibc: the default stack size of its threads) may be the larger one.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/result.h"
#include "launcher/keeper_protocol.h"

namespace hvd {

struct WorkerFds {
  int stdin_fd = 0;
  int stdout_fd = 1;
  int stderr_fd = 2;
};

// kNotFound and kInvalidArgument as FindProgram; kUnavailable for what is no
// fault of the program: too many processes, an environment that is too big.
// `nofile`: the worker's RLIMIT_NOFILE, if other than the caller's.
Result<pid_t> SpawnWorker(const KeeperLaunch& launch, const WorkerFds& fds,
                          const std::optional<FdLimit>& nofile);

}  // namespace hvd
