#include "base/session.h"

#include <signal.h>

#include <set>
#include <utility>

#include "base/descendants.h"
#include "base/process.h"

namespace hvd {
namespace {

// Each look but the last finds processes that were made before their maker got
// its SIGKILL; nothing honest makes that many in a row.
constexpr int kMostLooks = 50;

}  // namespace

std::vector<UniqueFd> KillSession(pid_t leader) {
  ::kill(-leader, SIGKILL);
  std::set<pid_t> found;
  std::vector<UniqueFd> pidfds;
  bool found_new = true;
  for (int look = 0; found_new && look < kMostLooks; ++look) {
    found_new = false;
    for (const ProcessInfo& process : ScanProcesses()) {
      if (process.session != leader || process.pid == leader) continue;
      if (!found.insert(process.pid).second) continue;
      found_new = true;
      // The group, not the process: no fork slips through.
      if (process.alive) ::kill(-process.group, SIGKILL);
      Result<UniqueFd> pidfd = OpenPidfd(process.pid);
      if (pidfd.ok()) pidfds.push_back(std::move(pidfd).value());
    }
  }
  return pidfds;
}

}  // namespace hvd
