// Ring calls: operations on a ring of ranks or of hosts (ring_schedule.h).
//
// Each starts with the call going one step round, and ends only when all have
// entered it. A "place" is a position in the ring, from 0; neighbours are the
// next ones up and down.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "collectives/local_calls.h"
#include "collectives/ring_runner.h"
#include "collectives/shares.h"

namespace hvd {

struct RingPlace {
  int place = 0;
  int size = 1;
};

// Whether the call goes round with it, or all have agreed on it before.
enum class Announce { kHere, kBefore };

// in == out is allowed. The divisor is applied once.
Status RingAllReduce(RingRunner& ring, RingPlace at, const Reduction& what);
// Of what a host has combined: `partial` is in what KernelForm::kWiden puts
// out; `what.in` is not looked at. `out` may be `partial`.
Status RingAllReducePartials(RingRunner& ring, RingPlace at,
                             const void* partial, const Reduction& what);
// `in` holds at.size times `count`; `out` may be this place's part of it.
// 16-bit floats travel as f32 and are rounded once.
Status RingReduceScatter(RingRunner& ring, RingPlace at, const Reduction& what);
// `in` may be this place's part of `out`.
Status RingAllGather(RingRunner& ring, RingPlace at, const void* in, void* out,
                     const Shares& shares, std::size_t element,
                     Announce announce);
Status RingBroadcast(RingRunner& ring, RingPlace at, void* data,
                     std::size_t bytes, int root);
// `matrix[from * size + to]` elements; in == out as in LocalAllToAll. Who
// disagrees was found out before: the call does not go round again.
Status RingAllToAll(RingRunner& ring, RingPlace at, const void* in, void* out,
                    std::span<const std::size_t> matrix, std::size_t element);

}  // namespace hvd
