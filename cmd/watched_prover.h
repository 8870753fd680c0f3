// WatchedProver: a prover of hosts that also tells what it finds out on the
// way, and lets proved hosts measure.
//
// The interface. Loop thread only.
#pragma once

#include <functional>
#include <string>

#include "discovery/host_prover.h"
#include "discovery/interface_choice.h"
#include "discovery/interface_proof.h"
#include "launcher/agent_message.h"

namespace hvd {

class WatchedProver : public HostProver {
 public:
  // All are set; called as HostProver::Handlers are.
  struct Watcher {
    // A host that takes part in the proof; null: this machine needs no agent.
    std::function<void(const HostInterfaces&, const AgentAbout*)> on_host;
    std::function<void(const HostProbe&, const ProbeResult&)> on_probe;
    std::function<void(const std::string& host, const AgentTime&)> on_time;
    std::function<void(const std::string& host, const AgentMeasured&)>
        on_measured;
  };

  // Before Start().
  virtual void Watch(Watcher watcher) = 0;
  // The watcher hears the answers, unless the host is lost before. This machine
  // has no clock to ask for.
  virtual void AskTime(const std::string& host, AgentAskTime question) = 0;
  virtual void Measure(const std::string& host, AgentMeasure question) = 0;
};

}  // namespace hvd
