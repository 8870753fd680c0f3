// PortRange: the TCP ports that our listeners may have, and how one is taken.
//
// A firewall opens a few ports; without a range the kernel chooses. Nobody
// looks for a free port, closes it and opens it again: what is bound stays
// bound.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

struct PortRange {
  std::uint16_t first = 0;  // both 0: the kernel chooses
  std::uint16_t last = 0;
  bool any() const { return first == 0; }
  bool operator==(const PortRange&) const = default;
};

// "40000-40099", or "40000" for one port. The error says what is wrong with
// the text and doesn't repeat it.
Result<PortRange> ParsePortRange(std::string_view text);
// Reads back as the same; "" when the kernel chooses.
std::string ToString(const PortRange& range);

// Every address that this host has or will have; IPv4 only where the kernel
// knows nothing else.
inline constexpr const char* kAllAddresses = "::";

// A TCP socket that listens, non-blocking and close-on-exec, on `address`: an
// IPv4 or IPv6 literal; kAllAddresses means those of both families. Each port
// of the range is tried once, from a random one on. Ports that only old
// connections still hold are taken too, when no other is left.
//
// kInvalidArgument: no address. kUnavailable: it can't be bound, or the range
// is full; the message names `what` it was for.
Result<UniqueFd> ListenInRange(const std::string& address,
                               const PortRange& range, std::string_view what);

// A TCP socket that is bound and doesn't listen, to keep a port for somebody
// else who sets SO_REUSEADDR: two sockets never get one port here.
Result<UniqueFd> HoldInRange(const std::string& address, const PortRange& range,
                             std::string_view what);

// Of a bound socket; 0 if the kernel won't say.
std::uint16_t BoundPort(int fd);

}  // namespace hvd
