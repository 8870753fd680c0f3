// Local calls: what the ranks of one host do together in their shared memory.
//
// All ranks of the group have entered, or are about to (LocalGroup::Enter...),
// when one of these is called, and call the same. `in` and `out` may be equal
// where it says so. The arithmetic is done by one rank for each element, or by
// all alike, always in rank order, so all hold the same bits.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "collectives/data_type.h"
#include "collectives/local_group.h"
#include "collectives/reduce_kernels.h"
#include "collectives/selection.h"
#include "collectives/shares.h"

namespace hvd {

// What is to be combined, and how.
struct Reduction {
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t count = 0;
  DataType type = DataType::kInt32;
  ReduceOp op = ReduceOp::kSum;
  Divisor divisor = 1;
};

// ---- small: every rank writes its slot, every rank reads all ----------------

// Whether `bytes` fit into a slot.
bool FitsSlot(std::size_t bytes);
// Enters with `bytes` at `data` for all to see.
void EnterWithSlot(LocalGroup& group, const void* data, std::size_t bytes);
// Once all have entered so: what rank `local` has brought.
const std::byte* SlotOf(const LocalGroup& group, int local, std::size_t bytes);
// All of it: enters, waits, reduces what all brought. kWiden: out is f32.
Status LocalReduceSmall(LocalGroup& group, const Reduction& what,
                        KernelForm form);

// ---- large: through the places, chunk after chunk ---------------------------

// in == out is allowed. Directly if all ranks' arrays lie in heaps.
Status LocalAllReduce(LocalGroup& group, const Selection& table,
                      const Reduction& what);
// `in` holds size() times `count`; `out` may be this rank's part of it.
Status LocalReduceScatter(LocalGroup& group, const Reduction& what);
// `in` may be this rank's part of `out`. `shares` is in local ranks.
Status LocalAllGather(LocalGroup& group, const Selection& table, const void* in,
                      void* out, const Shares& shares, std::size_t element);
// `matrix[from * size() + to]` elements; in == out is allowed if what a rank
// sends to another is as long as what it gets from it.
Status LocalAllToAll(LocalGroup& group, const void* in, void* out,
                     std::span<const std::size_t> matrix, std::size_t element);
Status LocalBroadcast(LocalGroup& group, const Selection& table, void* data,
                      std::size_t bytes, int root);

// ---- the halves of an allreduce, for what goes between hosts meanwhile ------

// An array of `count` is cut into `owners` slices, the first ones' for the
// first local ranks. All but the last are as long.
struct Slice {
  std::size_t begin = 0;
  std::size_t count = 0;
};
Slice SliceOf(std::size_t count, std::size_t element, int owners, int index);

// Combines everybody's `in` into the slice of each owner, which gets it at
// `partial`, in what KernelForm::kWiden puts out.
Status LocalReduceToOwners(LocalGroup& group, const Reduction& what,
                           void* partial, int owners);
// Gives everybody the slices that the owners have in `out`.
Status LocalGatherFromOwners(LocalGroup& group, void* out, std::size_t count,
                             std::size_t element, int owners);

}  // namespace hvd
