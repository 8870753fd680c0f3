// Descendants: which processes run below one of ours, as /proc shows them.
//
// Looks only; signals nothing. A snapshot is old when it is returned: whoever
// needs certainty takes another one and finds nothing new.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>
#include <vector>

namespace hvd {

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  // False for a zombie, true for one of whose threads any still runs.
  bool alive = false;
  // On its way out: what it had open may be closed already.
  bool exiting = false;
  // By a signal, not by a debugger.
  bool stopped = false;
  bool operator==(const ProcessInfo&) const = default;
};

// One /proc/<pid>/stat, see proc(5). Pure. The name of a program may hold
// anything, ") R 1" included.
std::optional<ProcessInfo> ParseProcStat(std::string_view text);

// nullopt: there is none.
std::optional<ProcessInfo> LookAt(pid_t pid);

// Every process that can be seen now, in no order. Empty if there is no /proc.
std::vector<ProcessInfo> ScanProcesses();

// All children of `root`, their children, and so on; not `root` itself. Pure.
std::vector<ProcessInfo> DescendantsOf(
    const std::vector<ProcessInfo>& processes, pid_t root);

}  // namespace hvd
