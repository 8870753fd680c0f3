// PushedHosts: another discovery's hosts, until somebody pushes others.
//
// The newest change counts: a list that was pushed stays until another is
// pushed or the other discovery finds other hosts than it had found before.
//
// Loop thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/event_loop.h"
#include "discovery/host_discovery.h"

namespace hvd {

class PushedHosts : public HostDiscovery {
 public:
  // `slots_per_host`: of a pushed line that names no slots.
  PushedHosts(EventLoop& loop, std::unique_ptr<HostDiscovery> source,
              int slots_per_host);
  void Start(DiscoveryHandlers handlers) override;

  // All hosts there are now, in the syntax of a hostfile. kInvalidArgument
  // names the bad line, and nothing has changed. Handlers are called later,
  // from the loop, and not before the first list of the other discovery: it
  // alone can fail the job.
  Status Push(const std::string& text);

 private:
  void OnFound(HostList hosts);
  void TellPushed();
  void Tell(HostList hosts);

  EventLoop& loop_;
  int slots_per_host_;
  DiscoveryHandlers handlers_;
  std::optional<HostList> told_;
  std::optional<HostList> pushed_;         // and not told yet
  std::unique_ptr<Timer> next_;            // TellPushed() is due
  std::unique_ptr<HostDiscovery> source_;  // calls in here: ends first
};

}  // namespace hvd
