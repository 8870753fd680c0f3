// HostDiscovery: where the list of hosts comes from, and goes on coming from.
//
// It judges nothing: each list is passed on whole, in its own order.
//
// Loop thread only.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "discovery/hosts.h"

namespace hvd {

// Called on the loop, never from inside Start(), and not after destruction;
// each may destroy the discovery. One that is empty is not called.
struct DiscoveryHandlers {
  // The first list, and each that differs from the one before. An empty list:
  // there are no hosts now.
  std::function<void(HostList)> on_hosts = {};
  // The first list cannot be had. Called at most once, instead of all else.
  std::function<void(Error)> on_failed = {};
  // A later list cannot be had and the last one stays, or all is well again:
  // one line, once for each change.
  std::function<void(std::string)> on_warning = {};
};

class HostDiscovery {
 public:
  virtual ~HostDiscovery() = default;

  // Destroying the discovery ends it. Call once.
  virtual void Start(DiscoveryHandlers handlers) = 0;
};

}  // namespace hvd
