// LocalHostsOnly: another discovery's hosts, of which only those that are this
// machine are passed on.
//
// Names are looked up as they come, without holding up the loop. A host of the
// first list that is not this machine is an error, one of a later list is left
// out with a warning.
//
// Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "discovery/host_discovery.h"
#include "discovery/local_host.h"

namespace hvd {

class LocalHostsOnly : public HostDiscovery {
 public:
  // Told each new host's address before the first list that has it is passed
  // on.
  using OnAddress = std::function<void(const HostAddress&)>;

  LocalHostsOnly(EventLoop& loop, std::unique_ptr<HostDiscovery> source,
                 Duration lookup_limit, OnAddress on_address);
  void Start(DiscoveryHandlers handlers) override;

 private:
  void OnHosts(HostList hosts);
  void LookUp(const std::string& host);
  void OnLookedUp(const std::string& host,
                  const Result<std::vector<HostAddress>>& found);
  void PassOn();

  EventLoop& loop_;
  Duration lookup_limit_;
  OnAddress on_address_;
  DiscoveryHandlers handlers_;
  HostList newest_;                      // as the source gave it
  bool listed_ = false;                  // it has given one
  std::set<std::string> first_;          // names of its first list
  std::optional<HostList> passed_;       // as it was passed on last
  std::set<std::string> local_;          // names of this machine
  std::map<std::string, Error> others_;  // and why they are not
  std::map<std::string, std::unique_ptr<HostLookup>> lookups_;
  std::vector<std::string> ended_;         // of lookups_, to be removed
  std::unique_ptr<Timer> next_;            // PassOn() is due
  std::unique_ptr<HostDiscovery> source_;  // calls in here: ends first
};

}  // namespace hvd
