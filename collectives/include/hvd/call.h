// Call: the operations there are.
#pragma once

#include <cstdint>

namespace hvd {

// The numbers are those of hvd_c.h and stay.
enum class Call : std::uint8_t {
  kAllReduce,
  kBroadcast,
  kAllGather,
  kBarrier,
  kReduceScatter,
  kAllToAll,
};

}  // namespace hvd
