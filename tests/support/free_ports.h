// FreePorts: a port range that was free a moment ago.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/port_range.h"

namespace hvd::testing {

// Each port of the range, taken on all addresses; fewer than asked for if one
// is in use.
inline std::vector<UniqueFd> Occupy(const PortRange& range) {
  std::vector<UniqueFd> taken;
  for (int port = range.first; port <= range.last; ++port) {
    const auto number = static_cast<std::uint16_t>(port);
    auto fd = ListenInRange(kAllAddresses, {number, number}, "test");
    if (!fd.ok()) break;
    taken.push_back(std::move(fd).value());
  }
  return taken;
}

// Below what the kernel gives to others by itself. `from` keeps tests that run
// at once apart.
inline PortRange FreePorts(std::uint16_t count, std::uint16_t from) {
  for (int first = from; first < from + 2'000; first += count) {
    const PortRange range{static_cast<std::uint16_t>(first),
                          static_cast<std::uint16_t>(first + count - 1)};
    if (Occupy(range).size() == count) return range;
  }
  FAIL("no " << count << " free ports from " << from << " on");
  return {};
}

}  // namespace hvd::testing
