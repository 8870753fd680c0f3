// ScriptDiscovery: the hosts that a script of the user prints, asked again and
// again.
//
// One run at a time; the next begins when the last has ended and the interval
// has passed. What the script prints has the syntax of a hostfile.
//
// Loop thread only.
// Source: Horovod's --host-discovery-script (HostDiscoveryScript), which runs
// it every second; docs/decisions/0014-discovery-script-through-sh.md has what
// differs.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/process.h"
#include "discovery/attempt_news.h"
#include "discovery/host_discovery.h"
#include "discovery/killed_processes.h"
#include "discovery/script_run.h"

namespace hvd {

class ScriptDiscovery : public HostDiscovery {
 public:
  struct Options {
    std::string command;       // for /bin/sh: a path, or a whole command line
    EnvList env;               // the script's whole environment
    int slots_per_host = 1;    // of a line that names no slots
    Duration interval{1'000};  // from the end of one run to the next
    Duration timeout{30'000};  // of one run
  };

  ScriptDiscovery(EventLoop& loop, Options options);
  // Kills a script that runs, with its session, and reaps it; waits for that at
  // most a second.
  ~ScriptDiscovery() override;

  void Start(DiscoveryHandlers handlers) override;

  // Whether `pid` belongs to the session of the script that runs now.
  bool Runs(pid_t pid) const;

 private:
  void BeginRun();
  void OnAttempt(const Attempt& attempt);

  EventLoop& loop_;
  Options options_;
  std::optional<AttemptNews> news_;
  KilledProcesses leftovers_;
  std::unique_ptr<ScriptRun> run_;  // before leftovers_ is gone
  std::unique_ptr<Timer> next_;
};

}  // namespace hvd
