// GroupedReduce: many small arrays reduced as few long ones.
//
// They are packed one after the other, in the order given, into a buffer that
// the other ranks of the host can reach, if there is such memory, reduced
// there, and unpacked. What is too long for that goes by itself. All ranks
// give the same counts in the same order. One thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "collectives/communicator.h"
#include "collectives/shared_heap.h"
#include "hvd/tensor.h"

namespace hvd {

class GroupedReduce {
 public:
  // Null: there is no heap. Outlives this.
  explicit GroupedReduce(SharedHeap* heap) : heap_(heap) {}
  ~GroupedReduce();
  GroupedReduce(const GroupedReduce&) = delete;
  GroupedReduce& operator=(const GroupedReduce&) = delete;

  Status AllReduce(Communicator& communicator, std::span<const Tensor> tensors,
                   DataType type, ReduceOp op);

 private:
  std::byte* Buffer();
  Status Flush(Communicator& communicator, std::span<const Tensor> tensors,
               DataType type, ReduceOp op);

  SharedHeap* heap_;
  std::byte* buffer_ = nullptr;  // in the heap, or spare_'s
  std::vector<std::byte> spare_;
};

}  // namespace hvd
