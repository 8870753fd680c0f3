// Membership: a world as a worker receives it, with a way to reach each member.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rendezvous/world.h"

namespace hvd {

// Where a worker waits for its ring neighbours. `address` and `port` are TCP;
// `local_name` is an abstract AF_UNIX name, for members on the same host.
// Two members share memory when their `host_key`s are equal.
struct Endpoint {
  std::string address;
  std::uint16_t port = 0;
  std::string local_name;
  std::string host_key;
  bool operator==(const Endpoint&) const = default;
};

struct Membership {
  World world;
  int rank = 0;
  std::vector<Endpoint> endpoints;  // endpoints[rank]
};

}  // namespace hvd
