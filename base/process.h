// Starting a child process, and how one ended.
//
// posix_spawn, own session, every descriptor above 2 closed, signals reset:
// nothing of ours leaks into a child. Exits are seen by the caller's own means
// (pidfd on a loop, or SIGCHLD where a process is a subreaper).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

// In order; a later entry with the same name wins when EnvMerge is used.
using EnvList = std::vector<std::pair<std::string, std::string>>;

// The calling process's environment. Call before any thread may setenv.
EnvList CurrentEnvironment();
// `base` with every entry of `overlay` put in its place or appended.
EnvList EnvMerge(EnvList base, const EnvList& overlay);
std::optional<std::string_view> EnvFind(const EnvList& env,
                                        std::string_view name);

struct ProcessSpec {
  std::string program;            // a path, resolved: see FindProgram
  std::vector<std::string> argv;  // argv[0] included
  EnvList env;                    // the whole environment, not a difference
  std::string cwd;                // empty: the caller's
  // What the child has as 0, 1 and 2: each as here or above 2. They stay open
  // in the caller.
  int stdin_fd = 0;
  int stdout_fd = 1;
  int stderr_fd = 2;
};

// How a process ended. Shell convention: 128 + signal for a killed one.
struct ExitStatus {
  int code = 0;    // exit(code); meaningless if signal != 0
  int signal = 0;  // 0: exited by itself
  bool success() const { return code == 0 && signal == 0; }
  int ToShell() const { return signal != 0 ? 128 + signal : code; }
  bool operator==(const ExitStatus&) const = default;
};

// Where a shell would find `name` with this PATH, from this directory. A name
// with a slash is itself. kNotFound: nowhere (a shell's 127); kInvalidArgument:
// found but not an executable file (a shell's 126).
Result<std::string> FindProgram(const std::string& name, std::string_view path,
                                const std::string& cwd);

// Starts `spec` as the leader of a new session and process group. A file with
// no "#!" line is run by /bin/sh, as a shell would. Error codes as FindProgram.
Result<pid_t> Spawn(const ProcessSpec& spec);

Result<UniqueFd> OpenPidfd(pid_t pid);
// Blocks until the child behind `pidfd` has ended.
ExitStatus ReapPidfd(int pidfd);
ExitStatus ExitStatusFromWait(int wait_status);

// "SIGKILL" for 9; "signal 99" for one without a name.
std::string SignalName(int signo);

}  // namespace hvd
