// FixedDiscovery: the hosts of -H or a hostfile, which never change.
//
// Loop thread only.
#pragma once

#include <memory>

#include "base/event_loop.h"
#include "discovery/host_discovery.h"
#include "discovery/hosts.h"

namespace hvd {

class FixedDiscovery : public HostDiscovery {
 public:
  FixedDiscovery(EventLoop& loop, HostList hosts);
  void Start(DiscoveryHandlers handlers) override;

 private:
  EventLoop& loop_;
  HostList hosts_;
  std::unique_ptr<Timer> first_;
};

}  // namespace hvd
