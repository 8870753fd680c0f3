// ScriptRun: one run of a discovery script, from its start to its last child.
//
// It runs through /bin/sh in a session of its own, with /dev/null for stdin.
// When the script exits, the run has ended, whoever still holds its stdout;
// what it has left in its session is killed.
//
// Judges nothing. Loop thread only.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/process.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "discovery/judge_script.h"
#include "discovery/killed_processes.h"

namespace hvd {

class ScriptRun {
 public:
  struct Options {
    std::string command;  // for a shell
    EnvList env;          // the whole environment
    Duration timeout{30'000};
  };
  using EndHandler = std::function<void(ScriptEnd)>;

  // `on_end` is called once, on the loop, never from inside, and not after
  // destruction; it may destroy the run. `leftovers` gets what was killed after
  // the script. Fails when no process can be had.
  static Result<std::unique_ptr<ScriptRun>> Start(EventLoop& loop,
                                                  const Options& options,
                                                  KilledProcesses& leftovers,
                                                  EndHandler on_end);
  // Kills it and waits for its end, at most half a second.
  ~ScriptRun();
  ScriptRun(const ScriptRun&) = delete;
  ScriptRun& operator=(const ScriptRun&) = delete;

  pid_t pid() const { return pid_; }
  // False from the start until the script is reaped, which may be after
  // `on_end` for one that had to be killed.
  bool gone() const { return !pidfd_.valid(); }

 private:
  struct Pipes;
  ScriptRun(EventLoop& loop, Duration timeout, KilledProcesses& leftovers,
            EndHandler on_end, pid_t pid, UniqueFd pidfd, Pipes pipes);

  void OnOutput();
  void OnErrors();
  void OnExit();
  void Kill(ScriptEnding why);
  void Reap();
  void Tell();

  KilledProcesses& leftovers_;
  EndHandler on_end_;  // null: called
  pid_t pid_;
  UniqueFd pidfd_;  // until it is reaped
  UniqueFd stdout_;
  UniqueFd stderr_;
  ScriptEnd end_;
  std::unique_ptr<FdWatch> output_;
  std::unique_ptr<FdWatch> errors_;
  std::unique_ptr<FdWatch> exit_;
  std::unique_ptr<Timer> timeout_;
};

}  // namespace hvd
