// RemoteHosts: makes hosts usable, this machine and others alike: an agent
// where one is needed, an address that is proved, a way in the launcher, and
// what its workers are told of the network.
//
// The shell around agent_pool.h and interface_proof.h, which decide; here are
// only their consequences. Loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "cmd/machine_network.h"
#include "cmd/watched_prover.h"
#include "discovery/interface_proof.h"
#include "discovery/link_meter.h"
#include "discovery/local_host.h"
#include "discovery/probe_dialer.h"
#include "discovery/proved_hosts.h"
#include "launcher/agent_pool.h"
#include "launcher/launcher_router.h"
#include "rendezvous/rendezvous_server.h"
#include "rendezvous/worker_env.h"

namespace hvd {

class RemoteHosts : public WatchedProver {
 public:
  struct Options {
    AgentPool::Options pool;
    std::vector<std::string> only_interfaces;  // --network-interfaces
    HostsNeeded needed = HostsNeeded::kAll;
    Duration lookup_limit{8'000};
    // A static job's name that nobody here knows has so long to be known by
    // ssh.
    std::optional<Duration> unknown_name_limit = {};
    // Lines for the user: who is missing, what ssh says.
    std::function<void(const std::string&)> say;
    EnvList user_env;  // may have a choice of interfaces, which is checked
  };
  // What it acts on; all outlive it.
  struct Parts {
    Bootstrap& bootstrap;
    LauncherHandlers worker_handlers;
    WorkerLauncher& local;
    LauncherRouter& router;
    RendezvousServer& server;
    JobEnv& env;  // gets the hosts' networks
  };

  static Result<std::unique_ptr<RemoteHosts>> Make(EventLoop& loop,
                                                   Options options,
                                                   Parts parts);

  void Watch(Watcher watcher) override { watcher_.emplace(std::move(watcher)); }
  void AskTime(const std::string& host, AgentAskTime question) override;
  void Measure(const std::string& host, AgentMeasure question) override;
  void Start(Handlers handlers) override { handlers_ = std::move(handlers); }
  void Want(const HostList& hosts) override;

 private:
  struct Host {
    HostSlots slots;
    std::unique_ptr<HostLookup> lookup;
    std::vector<std::string> addresses;  // of its name, seen from here
    std::unique_ptr<Timer> give_up;      // while the name is unknown
    bool is_local = false;
    bool in_proof = false;                     // what it has is known
    std::optional<HostInterfaces> found = {};  // until it is told to the proof
    bool proved = false;
    bool retiring = false;  // not wanted any more, but workers still run there
    std::string hvdrun_address;  // as it has reached hvdrun
    std::uint16_t master_port = 0;
    std::uint16_t store_port = 0;
  };

  RemoteHosts(EventLoop& loop, Options options, Parts parts,
              MachineNetwork network);

  void Add(const HostSlots& slots);
  void Forget(const std::string& host);
  void Retire(const std::string& name, Host& host);
  void Recall(const std::string& name, Host& host);
  void ForgetIdle();
  void OnLookedUp(const std::string& name,
                  const Result<std::vector<HostAddress>>& found);
  void AddLocal(const std::string& name, Host& host);
  void OnAgent(const std::string& name, const AgentAbout& about);
  void Prove(Host& host, HostInterfaces machine);
  void ProveSoon();
  void TellProof();
  void RunProbes();
  void OnProbed(const HostProbe& probe, const ProbeResult& result);
  void CheckProofs();
  Status Admit(const std::string& name, Host& host, const HostPlace& place);
  void Fail(const std::string& name, Error error);
  void OnLost(const std::string& name, Error error);
  void SayWaiting();
  bool AnyOnItsWay() const;

  EventLoop& loop_;
  Options options_;
  Parts parts_;
  Handlers handlers_;
  std::optional<Watcher> watcher_;
  MachineNetwork network_;
  InterfaceProof proof_;
  std::unique_ptr<ProbeDialer> dialer_;
  std::unique_ptr<LinkMeter> meter_;  // once it was needed
  std::map<std::string, Host> hosts_;
  std::vector<std::string> listed_;  // in the order of the last Want()
  std::set<std::string> failed_before_;
  std::map<std::uint64_t, HostProbe> probes_;  // that agents run
  std::uint64_t next_probe_ = 0;
  std::unique_ptr<Timer> prove_timer_;
  std::unique_ptr<Timer> waiting_timer_;
  std::unique_ptr<Timer> retire_timer_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();  // see Recall()
  AgentPool pool_;
};

}  // namespace hvd
