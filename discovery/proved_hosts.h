// ProvedHosts: another discovery's hosts, of which those are passed on that are
// proved to work.
//
// A static job needs all of them: its one list is passed on when every host is
// proved, and the first that fails for good fails the discovery. An elastic job
// goes on with those it has: the others are pending, and tried again for as
// long as they are listed.
//
// Loop thread only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/event_loop.h"
#include "discovery/host_discovery.h"
#include "discovery/host_prover.h"

namespace hvd {

enum class HostsNeeded { kAll, kAny };

class ProvedHosts : public HostDiscovery {
 public:
  // After a host failed or was lost, until it is tried again.
  static constexpr Duration kFirstPause{2'000};
  static constexpr Duration kLongestPause{60'000};

  // A host that was proved and is lost now, before the list without it.
  using LostHandler = std::function<void(const std::string& host, Error)>;

  // `prover` outlives this.
  ProvedHosts(EventLoop& loop, std::unique_ptr<HostDiscovery> source,
              HostProver& prover, HostsNeeded needed, LostHandler on_lost);
  void Start(DiscoveryHandlers handlers) override;

 private:
  struct Pending {
    bool rests = true;  // until `again`
    Duration pause = kFirstPause;
    std::unique_ptr<Timer> again;
  };

  void OnHosts(HostList hosts);
  void OnProved(const std::string& host);
  void OnFailed(const std::string& host, const Error& error);
  void OnLost(const std::string& host, const Error& error);
  void TryLater(const std::string& host);
  void WantListed();
  void PassOn();
  bool IsListed(const std::string& host) const;

  EventLoop& loop_;
  HostProver& prover_;
  HostsNeeded needed_;
  LostHandler on_lost_;
  DiscoveryHandlers handlers_;
  HostList listed_;
  std::set<std::string> proved_;
  std::map<std::string, Pending> pending_;  // those that failed
  std::optional<HostList> passed_;
  std::unique_ptr<HostDiscovery> source_;  // calls in here: ends first
};

}  // namespace hvd
