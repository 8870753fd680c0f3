// RingSchedule: which part of an array a rank sends and receives at each step.
//
// Pure. Each rank sends to the next one (rank + 1) and receives from the one
// before. An array is cut into `size` chunks. All-reduce takes 2 (size - 1)
// steps: in the first half what comes in is combined with one's own, after
// which each rank owns one finished chunk; in the second half the finished
// chunks go round. What is received in one step is sent in the next.
#pragma once

#include <cstddef>

namespace hvd {

struct Chunk {
  std::size_t begin = 0;  // elements
  std::size_t count = 0;
  bool operator==(const Chunk&) const = default;
};

// The first count % size chunks are one element longer; chunks may be empty.
Chunk ChunkOf(std::size_t count, int size, int index);

enum class OnReceipt {
  kCombine,      // with one's own elements
  kCombineLast,  // and this was the last rank's: the chunk is finished
  kStore,
};

struct RingStep {
  int send = 0;  // which chunk
  int receive = 0;
  OnReceipt on_receipt = OnReceipt::kStore;
};

int AllReduceSteps(int size);  // 2 (size - 1)
RingStep AllReduceStep(int rank, int size, int step);

// Chunk r is what rank r contributes.
int AllGatherSteps(int size);  // size - 1
RingStep AllGatherStep(int rank, int size, int step);

// The rank before and after, round the ring.
int LeftOf(int rank, int size);
int RightOf(int rank, int size);

}  // namespace hvd
