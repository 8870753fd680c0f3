// Topology: which ranks of a world share a host, and whom each rank is linked
// to.
//
// Pure. Hosts are numbered in the order of their first ranks; a host's first
// rank speaks for it.
#pragma once

#include <optional>
#include <vector>

#include "rendezvous/membership.h"

namespace hvd {

struct Topology {
  int rank = 0;
  int size = 1;
  std::vector<std::vector<int>> hosts;  // their ranks, in rank order
  int host = 0;                         // of this rank
  int local = 0;                        // its place among the ranks there

  int local_size() const { return static_cast<int>(mates().size()); }
  int host_count() const { return static_cast<int>(hosts.size()); }
  // The ranks of this rank's host.
  const std::vector<int>& mates() const {
    return hosts[static_cast<std::size_t>(host)];
  }
  // How many ranks every host has at least: as many rings run between hosts.
  int rails() const;
  // The rank with this rank's place on the host `steps` after this one, round
  // the ring of hosts. The place is below rails().
  int OnRail(int steps) const;
};

Topology TopologyOf(const Membership& membership);

// Recursive doubling among `hosts` speakers: with whom speaker `host` exchanges
// what it has, in order. A power of two of them doubles; each of the `extra`
// ones beyond hands its part to one of those before, and gets the result after.
struct DoublingPlan {
  std::optional<int> gives_to;    // this one is extra
  std::optional<int> takes_from;  // and this one has an extra one
  std::vector<int> partners;
};
DoublingPlan PlanDoubling(int hosts, int host);

}  // namespace hvd
