// TunnelPiece: what one end of a tunnelled connection has read from its socket.
#pragma once

#include <cstdint>
#include <string>

namespace hvd {

struct TunnelPiece {
  std::uint64_t connection = 0;  // counted by the end that accepted it
  std::string bytes = {};
  bool end = false;  // no more of it
  bool operator==(const TunnelPiece&) const = default;
};

// The other end has got rid of the oldest piece that it was sent.
struct TunnelTaken {
  std::uint64_t connection = 0;
  bool operator==(const TunnelTaken&) const = default;
};

}  // namespace hvd
