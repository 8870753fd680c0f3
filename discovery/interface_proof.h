// InterfaceProof: decides by which of its addresses each host is known to all
// others, from what probes have proved.
//
// Names and subnets say nothing about who reaches whom; a connection that the
// right host answered does. Up to kMaxComplete machines every host is tried
// from every other one, above that from its neighbours in the list (distance 1
// and 2, the ends joined), and the first from and by all. Of each host the
// likeliest addresses are tried first and the others only if those do not
// serve all.
//
// Hosts that are added between two calls of TakeProbes() are proved together,
// and against those that were proved before. Where two can't reach each other,
// the one that is new fails, or that has the most such pairs; the others go on.
//
// Pure: no I/O, no clock. The caller runs the probes and tells what came of
// them; if all of them end, so does the proof.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "discovery/interface_choice.h"
#include "discovery/probe_dialer.h"

namespace hvd {

// To be run on host `from`.
struct HostProbe {
  std::string from;
  std::string to;
  ProbeTarget target;
  bool operator==(const HostProbe&) const = default;
};

enum class ProofState { kOpen, kProved, kFailed };

struct HostProof {
  ProofState state = ProofState::kOpen;
  HostPlace place;             // kProved: the same for all that talk to it
  std::optional<Error> error;  // kFailed
  // kFailed: who cannot reach whom, a header and a line each, bounded.
  std::vector<std::string> table;
};

class InterfaceProof {
 public:
  static constexpr std::size_t kMaxComplete = 16;
  static constexpr std::size_t kMaxTableRows = 20;

  struct Options {
    std::vector<std::string> only;  // --network-interfaces; empty: any
    std::string default_route;      // of this machine: for when it is alone
  };

  explicit InterfaceProof(Options options);

  // A host of the same name is replaced.
  void AddHost(HostInterfaces host);
  void RemoveHost(const std::string& host);
  // What is to be run now. Each probe is given out once.
  std::vector<HostProbe> TakeProbes();
  // What came of one, in any order; one that is out of date is ignored.
  void OnResult(const HostProbe& probe, const ProbeResult& result);

  // kNotFound is a bug of the caller's: HVD_CHECKed.
  const HostProof& Of(const std::string& host) const;
  std::vector<std::string> hosts() const;  // in the order in which they came
  // "host a: eth0 10.0.0.1 (also has docker0 172.17.0.1, a bridge)"
  std::string Describe(const std::string& host) const;
};

}  // namespace hvd
