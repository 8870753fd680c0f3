// AgentPool: the agents of all other hosts, from the first try to reach a host
// to its loss.
//
// It starts agents (agent_starts.h), lets them in (agent_server.h) and keeps a
// launcher for each (agent_launcher.h). What a host is good for is decided
// elsewhere. gRPC is loaded when the first host is wanted, while ssh connects.
//
// Loop thread only. Handlers run on the loop, never from inside a call, and
// never after destruction.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/port_range.h"
#include "launcher/agent_launcher.h"
#include "launcher/agent_server.h"
#include "launcher/agent_starts.h"
#include "launcher/remote_library.h"
#include "launcher/tree_bootstrap.h"

namespace hvd {

class AgentPool {
 public:
  struct Options {
    std::string library_path;            // see remote_library.h
    std::vector<std::string> addresses;  // of this machine, to be dialled at
    PortRange ports;
    std::string probe_key;
    std::uint16_t store_port = 0;  // of the job's store, at 127.0.0.1
    Duration host_timeout{15'000};
    std::optional<Duration> stopped_limit = {};
    Duration stop_grace{10'000};
    std::vector<std::string> kept_variables = {};  // see AgentLauncher
    AgentStarts::Options starts;
    TreeBootstrap::Options tree;
  };

  // `host` is forgotten when on_failed or on_lost is called.
  struct Handlers {
    std::function<void(const std::string& host, const AgentAbout&)> on_agent;
    std::function<void(const std::string& host, const AgentProbed&)> on_probed;
    // No agent came of it.
    std::function<void(const std::string& host, Error)> on_failed;
    std::function<void(const std::string& host, Error)> on_lost;
    std::function<void(const std::string& line)> on_chatter;
    // For whoever asks; may be empty.
    std::function<void(const std::string& host, const AgentTime&)> on_time = {};
    std::function<void(const std::string& host, const AgentMeasured&)>
        on_measured = {};
  };

  // `worker_handlers`: for the workers of all hosts.
  AgentPool(EventLoop& loop, Options options, Bootstrap& bootstrap,
            LauncherHandlers worker_handlers, Handlers handlers);
  AgentPool(const AgentPool&) = delete;
  AgentPool& operator=(const AgentPool&) = delete;

  // Fails as LoadAgentServer does, or as AgentStarts.
  void Want(const RemoteHost& host);
  // Ends its agent, or the way to it.
  void Drop(const std::string& host);
  // Nothing is waited for any more at this host itself.
  void Ready(const std::string& host) { starts_.Ready(host); }
  // nullptr: its agent is not here.
  AgentLauncher* Find(const std::string& host);
  // As AgentStarts.
  std::string Waiting() const { return starts_.Waiting(); }

 private:
  void LoadServer();
  void OnLoaded();
  std::string MakeOrders(const std::string& host);
  void OnAgent(const std::string& host, std::unique_ptr<AgentLink> link);
  void OnMessage(const std::string& host, const AgentEvent& event);
  void Lose(const std::string& host, Error why);
  void Retire(std::unique_ptr<AgentLauncher> agent);

  EventLoop& loop_;
  Options options_;
  LauncherHandlers worker_handlers_;
  Handlers handlers_;
  std::unique_ptr<AgentServerLoad> load_;  // once a host was wanted
  AgentServer* server_ = nullptr;          // once it was needed
  std::map<std::string, std::unique_ptr<AgentLauncher>> agents_;
  // To be destroyed from the loop: a handler of theirs may be running.
  std::vector<std::unique_ptr<AgentLauncher>> retired_;
  TreeBootstrap tree_;
  AgentStarts starts_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace hvd
