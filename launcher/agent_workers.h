// AgentWorkers: what an agent does for hvdrun: its commands, carried out by a
// launcher of this machine, and the workers' output and input, moved.
//
// It decides nothing about the job. When hvdrun is gone, silent for too long or
// says farewell, on_end says so, once: whoever owns the launcher then ends it,
// and with it every worker.
//
// Loop thread only. Handlers run on the loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "discovery/link_meter.h"
#include "discovery/probe_dialer.h"
#include "launcher/agent_connection.h"
#include "launcher/agent_starter.h"
#include "launcher/byte_sink.h"
#include "launcher/byte_source.h"
#include "launcher/life_signs.h"
#include "launcher/store_tunnel.h"
#include "launcher/worker_launcher.h"

namespace hvd {

class AgentWorkers {
 public:
  // nullopt: the job is over. Else why there is nobody to work for.
  using EndHandler = std::function<void(std::optional<Error>)>;

  struct Options {
    Duration host_timeout{15'000};
    EnvList login_env = {};  // the agent's own, where its login variables are
    PortRange ports = {};    // for what this host's workers are to find
    // See AgentStarter.
    RemoteBootstrap::Options starting = {};
    std::function<Result<std::string>()> program = {};
  };

  // `dialer` runs probes, `meter` measures links.
  AgentWorkers(EventLoop& loop, std::unique_ptr<ProbeDialer> dialer,
               std::unique_ptr<LinkMeter> meter, Options options,
               EndHandler on_end);
  AgentWorkers(const AgentWorkers&) = delete;
  AgentWorkers& operator=(const AgentWorkers&) = delete;

  // For the launcher that Start() gets, which may begin before.
  LauncherHandlers launcher_handlers();
  // `about` is the first thing that hvdrun hears. `launcher` outlives this.
  void Start(WorkerLauncher& launcher, std::unique_ptr<AgentUplink> uplink,
             AgentAbout about);
  // The connection that started this agent has ended: hvdrun knows whether that
  // is the end of it.
  void CutOff();
  // Whether it is the keeper of what starts other hosts' agents.
  bool Runs(pid_t pid) const { return starter_.Runs(pid); }

 private:
  void OnMessage(const AgentCommand& command);
  void OnBytes(WorkerBytes bytes);
  void On(const AgentLaunch& command);
  void On(const AgentProbe& command);
  void On(const AgentAskTime& command);
  void On(const AgentMeasure& command);
  Result<WorkerCommand> MakePipes(const AgentLaunch& command);
  void OnExit(LaunchId id, ExitStatus status);
  void OpenStore(AgentAbout& about);
  void Say(AgentEvent event);
  void End(std::optional<Error> why);

  EventLoop& loop_;
  std::unique_ptr<AgentUplink> uplink_;  // since Start(), as
  WorkerLauncher* launcher_ = nullptr;
  std::unique_ptr<ProbeDialer> dialer_;
  std::unique_ptr<LinkMeter> meter_;
  Options options_;
  EndHandler on_end_;
  ByteSource output_;
  ByteSink input_;
  std::unique_ptr<StoreEntrance> store_;
  AgentStarter starter_;
  std::unique_ptr<Timer> cut_off_;  // while hvdrun is asked whether to go on
  std::unique_ptr<LifeSigns> life_signs_;
};

}  // namespace hvd
