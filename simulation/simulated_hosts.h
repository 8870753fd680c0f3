// SimulatedHosts: which hosts are listed, which are dead, and which slots are
// not as they should be.
//
// Pure. Bookkeeping only: simulated_job says what comes of it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "discovery/hosts.h"
#include "rendezvous/world.h"
#include "simulation/simulation_spec.h"

namespace hvd {

class SimulatedHosts {
 public:
  explicit SimulatedHosts(const SimulationSpec& spec);

  const HostList& listed() const { return listed_; }
  bool IsListed(const std::string& host) const;
  bool IsDead(const std::string& host) const { return dead_.contains(host); }
  bool IsBad(const WorkerId& slot) const { return bad_.contains(slot); }
  bool IsSlow(const WorkerId& slot) const { return slow_.contains(slot); }

  void Leave(const std::string& host);  // it must be listed
  void Lose(const std::string& host);   // the same, and it is dead
  void Come(const std::string& host);   // it must not be listed
  void Spoil(const WorkerId& slot) { bad_.insert(slot); }
  void Slow(const WorkerId& slot) { slow_.insert(slot); }

  // The host that has been away for longest, or one that never was there.
  std::string NextToCome() const;

 private:
  int slots_;
  int names_;  // hosts named so far: h0, h1, ...
  HostList listed_;
  std::vector<std::string> away_;
  std::set<std::string> dead_;
  std::set<WorkerId> bad_;
  std::set<WorkerId> slow_;
};

// "h3/2" as a slot.
WorkerId SlotOf(const std::string& where);

}  // namespace hvd
