// ManyHosts: what a job has besides when some of its hosts are other machines,
// or may be: a way to start agents, the agents, and a launcher for each host.
//
// Only wires; loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/process.h"
#include "cmd/remote_hosts.h"
#include "cmd/settings.h"
#include "discovery/host_discovery.h"
#include "launcher/launcher_router.h"
#include "launcher/local_launcher.h"
#include "rendezvous/rendezvous_server.h"

namespace hvd {

class BootstrapOnDemand;

class ManyHosts {
 public:
  ~ManyHosts();
  // All outlive it.
  struct Parts {
    const Settings& settings;
    const EnvList& own_env;
    std::string keeper_path;
    std::function<bool(pid_t)> spare;  // what else runs below this process
    LauncherHandlers worker_handlers;
    LocalLauncher& local;
    RendezvousServer& server;
    JobEnv& env;
    std::function<void(const std::string&)> say;
  };

  static Result<std::unique_ptr<ManyHosts>> Make(EventLoop& loop, Parts parts);

  WorkerLauncher& launcher() { return router_; }
  RemoteHosts& hosts() { return *hosts_; }
  // Of the ways to other hosts; to be spared when the workers' keeper is gone.
  bool Runs(pid_t pid) const;
  // `source`'s hosts, once they can be used; this outlives it.
  std::unique_ptr<HostDiscovery> Prove(std::unique_ptr<HostDiscovery> source,
                                       ProvedHosts::LostHandler on_lost);

 private:
  ManyHosts(EventLoop& loop, const Parts& parts,
            std::unique_ptr<BootstrapOnDemand> bootstrap);

  EventLoop& loop_;
  HostsNeeded needed_;
  LauncherRouter router_;
  std::unique_ptr<BootstrapOnDemand> bootstrap_;
  std::unique_ptr<RemoteHosts> hosts_;
};

}  // namespace hvd
