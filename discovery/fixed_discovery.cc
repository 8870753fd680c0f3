#include "discovery/fixed_discovery.h"

#include <utility>

namespace hvd {

FixedDiscovery::FixedDiscovery(EventLoop& loop, HostList hosts)
    : loop_(loop), hosts_(std::move(hosts)) {}

void FixedDiscovery::Start(DiscoveryHandlers handlers) {
  first_ =
      loop_.After(Duration{0}, [this, on_hosts = std::move(handlers.on_hosts)] {
        if (on_hosts) on_hosts(hosts_);
      });
}

}  // namespace hvd
