#include "collectives/ring_schedule.h"

#include <algorithm>

namespace hvd {
namespace {

int Modulo(int value, int size) { return ((value % size) + size) % size; }

}  // namespace

Chunk ChunkOf(std::size_t count, int size, int index) {
  const auto parts = static_cast<std::size_t>(size);
  const auto i = static_cast<std::size_t>(index);
  const std::size_t base = count / parts;
  const std::size_t longer = count % parts;
  return {base * i + std::min(i, longer), base + (i < longer ? 1U : 0U)};
}

int AllReduceSteps(int size) { return 2 * (size - 1); }

RingStep AllReduceStep(int rank, int size, int step) {
  RingStep result = AllGatherStep(rank, size, step);
  if (step < size - 2) result.on_receipt = OnReceipt::kCombine;
  if (step == size - 2) result.on_receipt = OnReceipt::kCombineLast;
  return result;
}

int AllGatherSteps(int size) { return size - 1; }

RingStep AllGatherStep(int rank, int size, int step) {
  return {Modulo(rank - step, size), Modulo(rank - step - 1, size),
          OnReceipt::kStore};
}

int LeftOf(int rank, int size) { return Modulo(rank - 1, size); }
int RightOf(int rank, int size) { return Modulo(rank + 1, size); }

}  // namespace hvd
