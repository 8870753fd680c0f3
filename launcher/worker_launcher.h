// WorkerLauncher: starts workers on a host and tells how they end.
//
// The interface; LocalLauncher is the real one for this machine, AgentLauncher
// for another, LauncherRouter for all hosts of a job. The descriptors in a
// WorkerCommand are where a worker reads and writes.
//
// Loop thread only.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/process.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "rendezvous/world.h"

namespace hvd {

struct WorkerCommand {
  std::vector<std::string> argv = {};  // argv[0]: looked up in env's PATH
  EnvList env = {};                    // whole
  std::string cwd = {};
  std::string host =
      {};  // the worker's; a launcher of one host needs no telling
  // Taken over, closed here once the worker has them. Not valid: the worker
  // reads end of file.
  UniqueFd stdin_fd = {};
  UniqueFd stdout_fd = {};
  UniqueFd stderr_fd = {};
};

struct LauncherHandlers {
  std::function<void(LaunchId, pid_t)> on_started;
  // kNotFound: the shell's 127; kInvalidArgument: 126; others: our own 125.
  std::function<void(LaunchId, Error)> on_start_failed;
  // Once per started worker, after its own process ended. What it left behind
  // in its session is already being stopped.
  std::function<void(LaunchId, ExitStatus)> on_exit;
  // The worker's process has been stopped (SIGSTOP) for too long, and not by
  // this job; where that is watched.
  std::function<void(LaunchId)> on_stopped = {};
  // A stopped worker outlived SIGKILL by kKillPatience (uninterruptible I/O)
  // and is given up; on_exit with SIGKILL follows at once.
  std::function<void(LaunchId, pid_t)> on_stuck = {};
  // The launcher itself is broken (its keeper died): no further events come,
  // every worker is being stopped.
  std::function<void(Error)> on_lost = {};
};

class WorkerLauncher {
 public:
  virtual ~WorkerLauncher() = default;

  // One on_started or on_start_failed follows.
  virtual void Launch(LaunchId id, WorkerCommand command) = 0;
  // To every process of the worker's session.
  virtual void Signal(LaunchId id, int signo) = 0;
  // Climbs the stop ladder (stop_ladder.h) from `first_signal` until the worker
  // has ended; calling it again with SIGKILL jumps to the last rung.
  virtual void Stop(LaunchId id, int first_signal, Duration grace) = 0;
  // Everything that any worker started and that still runs gets TERM, then
  // after `grace` KILL, until nothing is left; then `done`, on the loop.
  virtual void StopLeftovers(Duration grace, std::function<void()> done) = 0;
  // This process will be stopped by its user (Ctrl-Z) once `done` has run, on
  // the loop: until it goes on nobody takes its silence for its end.
  virtual void Rest(std::function<void()> done) = 0;
};

}  // namespace hvd
