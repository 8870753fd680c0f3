// MachineNetwork: this machine as others find it: its interfaces, a listener
// that proves who it is, and a port kept for rank 0.
//
// hvdrun has one for its own machine, each agent for its own. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/port_range.h"
#include "base/result.h"
#include "cmd/held_port.h"
#include "discovery/interface_choice.h"
#include "discovery/probe_listener.h"

namespace hvd {

// As this machine calls itself; "" if it has no name.
std::string OwnHostName();
// "Linux 6.1.0 x86_64"; "" if the kernel does not say.
std::string OwnSystem();

class MachineNetwork {
 public:
  // kUnavailable: no port is free.
  static Result<MachineNetwork> Open(EventLoop& loop,
                                     const std::string& probe_key,
                                     const PortRange& ports);

  // What it has now. Whoever asks knows by which name it is a host of the job;
  // until then it has its own.
  Result<HostInterfaces> Look() const;
  std::uint16_t master_port() const { return master_.port(); }

 private:
  MachineNetwork(std::string identity, HeldPort master,
                 std::unique_ptr<ProbeListener> listener)
      : identity_(std::move(identity)),
        master_(std::move(master)),
        listener_(std::move(listener)) {}

  std::string identity_;
  HeldPort master_;
  std::unique_ptr<ProbeListener> listener_;
};

// The addresses at which agents elsewhere may reach this machine, best first;
// loopback if it has nothing else. kInvalidArgument: it has none of `only`.
Result<std::vector<std::string>> AddressesToDial(
    const HostInterfaces& machine, const std::vector<std::string>& only);

}  // namespace hvd
