// Told: a discovery whose test says what it finds, and when.
#pragma once

#include "discovery/host_discovery.h"

namespace hvd::testing {

class Told : public HostDiscovery {
 public:
  void Start(DiscoveryHandlers handlers) override { told = handlers; }
  DiscoveryHandlers told;
};

}  // namespace hvd::testing
