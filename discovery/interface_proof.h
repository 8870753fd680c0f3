// InterfaceProof: decides by which of its addresses each host is known to all
// others, from what probes have proved.
//
// Names and subnets say nothing about who reaches whom; a connection that the
// right host answered does. probe_plan.h says which hosts must be reached from
// which. Of each host the likeliest addresses are tried first, and the others
// only if none of those serves all that ask. A host has one address for all.
//
// Hosts are proved in batches: those that were added when TakeProbes() has
// nothing left to do, against each other and against those of earlier batches,
// whose choice stays where it serves. Where two hosts can't reach each other,
// the newer one fails, or that which has the most such pairs, or the later in
// the list; the others go on. A machine alone is not probed.
//
// Pure: no I/O, no clock. The caller runs the probes and tells what came of
// each; when all have ended, every host of the batch is proved or has failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "discovery/interface_choice.h"
#include "discovery/probe_dialer.h"
#include "discovery/reach_table.h"

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
  // kFailed: who cannot reach whom, a header and a line each, bounded; empty
  // if nothing was tried.
  std::vector<std::string> table;
};

class InterfaceProof {
 public:
  static constexpr std::size_t kMaxTableRows = 20;

  // `only`: --network-interfaces; empty: any.
  explicit InterfaceProof(std::vector<std::string> only = {});

  // A host of the same name is replaced; so one that failed is tried anew.
  void AddHost(HostInterfaces host);
  // What is told of probes from or to it is ignored from now on.
  void RemoveHost(const std::string& host);
  // What is to be run now; each probe is given out once. Call again after each
  // of the other functions.
  std::vector<HostProbe> TakeProbes();
  // What came of one, in any order.
  void OnResult(const HostProbe& probe, const ProbeResult& result);

  // Of a host that was added and not removed.
  const HostProof& Of(const std::string& host) const;
  // In the order in which they were added.
  std::vector<std::string> hosts() const;
  // "host a: eth0 10.0.0.1; not used: docker0 172.17.0.1 (not needed)"
  std::string Describe(const std::string& host) const;

 private:
  enum class Stage { kWaiting, kBatch, kSettled, kFailed };
  struct Host {
    std::uint64_t id = 0;
    HostInterfaces info;
    Stage stage = Stage::kWaiting;
    // Once there is another machine; a settled host's choice comes first.
    std::vector<Candidate> candidates;
    std::optional<Error> no_candidate;
    HostProof proof;
  };
  using Link = std::tuple<std::uint64_t, std::uint64_t, std::string>;
  // By places in hosts_; both the same: no address serves all that ask.
  struct Broken {
    std::size_t from;
    std::size_t to;
  };
  using Askers = std::map<std::size_t, std::vector<std::size_t>>;

  void Advance();
  bool TakeBatch();
  // The hosts that are to reach each other: the batch and the settled.
  std::vector<std::size_t> Live() const;
  bool SeveralMachines(const std::vector<std::size_t>& live) const;
  void PlaceAlone(const std::vector<std::size_t>& live);
  // False if a host failed because it has none.
  bool ListCandidates(const std::vector<std::size_t>& live);
  Askers AskersOf(const std::vector<std::size_t>& live) const;
  // Asks for what is missing to decide on `to`; else what is broken there.
  std::vector<Broken> AskOrBlame(std::size_t to,
                                 const std::vector<std::size_t>& askers);
  const Candidate* Serving(const Host& to,
                           const std::vector<std::size_t>& askers) const;
  // True if something is missing of the first `count` candidates.
  bool Ask(const Host& to, const std::vector<std::size_t>& askers,
           std::size_t count);
  std::vector<Broken> BrokenPairs(std::size_t to,
                                  const std::vector<std::size_t>& askers) const;
  void Settle(const Askers& askers);
  void FailOne(const std::vector<Broken>& broken);
  void Fail(Host& host, Error error, const std::vector<ReachRow>& rows = {});
  std::string Complaint(const Broken& pair) const;
  std::vector<ReachRow> RowsOf(const Broken& pair) const;

  bool Reached(std::size_t from, const Host& to,
               const std::string& address) const;
  const ProbeResult* ResultOf(const Host& from, const Host& to,
                              const std::string& address) const;
  std::string HostOf(const std::string& identity) const;
  const Host* Find(const std::string& host) const;

  const std::vector<std::string> only_;
  std::vector<Host> hosts_;  // in the order in which they were added
  std::uint64_t last_id_ = 0;
  std::map<Link, std::optional<ProbeResult>> results_;  // nullopt: not yet told
  std::size_t pending_ = 0;                             // of results_
  std::vector<HostProbe> to_take_;  // of those, not yet given out
};

}  // namespace hvd
