// Interfaces: the network interfaces of this host, as its kernel tells.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hvd {

struct InterfaceAddress {
  std::string address;    // an IPv4 or IPv6 literal; never IPv6 link-local
  int prefix_length = 0;  // 24 in 10.0.0.1/24
  bool operator==(const InterfaceAddress&) const = default;
};

struct Interface {
  std::string name;
  int index = 0;
  bool up = false;
  bool running = false;  // has a carrier
  bool loopback = false;
  bool point_to_point = false;
  bool bridge = false;  // a virtual switch of this host: docker0, virbr0
  std::vector<InterfaceAddress> addresses;  // in the kernel's order
  bool operator==(const Interface&) const = default;
};

// In the order of their indices. kUnavailable: the kernel didn't say.
Result<std::vector<Interface>> ListInterfaces();

// The interface of the default route, from the text of /proc/net/route; "" if
// there is none. Pure.
std::string DefaultRouteInterface(std::string_view proc_net_route);

}  // namespace hvd
