// HostDiscovery: where the list of hosts comes from, and goes on coming from.
//
// It judges nothing: each list is passed on whole, in its own order.
//
// Loop thread only.
#pragma once

#include <functional>

#include "discovery/hosts.h"

namespace hvd {

class HostDiscovery {
 public:
  using HostsHandler = std::function<void(HostList)>;

  virtual ~HostDiscovery() = default;

  // `on_hosts` is called on the loop, never from inside Start(): once for the
  // first list and again for each that differs. Destroying the discovery ends
  // it. Call once.
  virtual void Start(HostsHandler on_hosts) = 0;
};

}  // namespace hvd
