// PaperNetwork: who can reach whom, on paper; answers the probes of a proof as
// dialers would.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "discovery/interface_proof.h"

namespace hvd::testing {

class PaperNetwork {
 public:
  // From that host that address cannot be reached.
  void Block(const std::string& from, const std::string& address) {
    blocked_.emplace(from, address);
  }
  void Unblock(const std::string& from, const std::string& address) {
    blocked_.erase({from, address});
  }
  // An address that each host has for itself: whoever dials it reaches himself.
  void MakePrivate(const std::string& address) { private_.insert(address); }

  ProbeResult Run(const HostProbe& probe) const {
    ProbeResult result;
    if (private_.contains(probe.target.address)) {
      result.kind = ProbeResult::Kind::kOtherHost;
      result.answered_as = "id-" + probe.from;
    } else if (blocked_.contains({probe.from, probe.target.address})) {
      result.failure = "No route to host";
    } else {
      result.kind = ProbeResult::Kind::kProved;
      result.answered_as = probe.target.identity;
    }
    return result;
  }

  // Runs all there are to run; how many that were.
  std::size_t Settle(InterfaceProof& proof) const {
    std::size_t count = 0;
    for (auto probes = proof.TakeProbes(); !probes.empty();
         probes = proof.TakeProbes()) {
      count += probes.size();
      for (const HostProbe& probe : probes) proof.OnResult(probe, Run(probe));
    }
    return count;
  }

 private:
  std::set<std::pair<std::string, std::string>> blocked_;
  std::set<std::string> private_;
};

inline Interface Nic(const std::string& name, int index,
                     const std::string& address, int prefix = 24) {
  return {.name = name,
          .index = index,
          .up = true,
          .running = true,
          .loopback = false,
          .point_to_point = false,
          .bridge = false,
          .addresses = {{address, prefix}}};
}

inline Interface Loopback() {
  Interface lo = Nic("lo", 1, "127.0.0.1", 8);
  lo.loopback = true;
  return lo;
}

inline Interface Docker() {
  Interface docker = Nic("docker0", 9, "172.17.0.1", 16);
  docker.bridge = true;
  return docker;
}

// Host `name` = 10.0.0.`number` on eth0, with a docker0 like everybody's.
inline HostInterfaces PaperHost(const std::string& name, int number) {
  const std::string address = "10.0.0." + std::to_string(number);
  return {.host = name,
          .identity = "id-" + name,
          .probe_port = 4000,
          .interfaces = {Loopback(), Nic("eth0", 2, address), Docker()},
          .default_route = "eth0",
          .preferred = {address},
          .is_local = false};
}

}  // namespace hvd::testing
