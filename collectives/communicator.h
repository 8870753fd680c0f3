// Communicator: moves and combines arrays among the ranks of one world.
//
// All ranks must make the same calls in the same order; a difference is an
// error that names it on every rank, not a hang. After any error a communicator
// is dead: every later call returns that same error at once, the contents of
// output buffers are undefined, and only destroying it is left.
//
// One thread at a time makes calls; Abort() may come from any thread at any
// moment and ends the call in progress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "collectives/data_type.h"

namespace hvd {

// Why a communicator is dead. `rank`: the one that died, fell silent or left;
// -1 if no one rank is to blame, as when two disagree. `text` is the same on
// all ranks.
struct CommFailure {
  int rank = -1;
  ErrorCode code = ErrorCode::kUnavailable;
  std::string text;
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Any thread. How many calls this rank has begun.
  virtual std::uint64_t entered() const = 0;

  // `in` and `out` hold `count` elements and are equal or do not overlap.
  // Bitwise the same on all ranks, and each time for the same world.
  virtual Status AllReduce(const void* in, void* out, std::size_t count,
                           DataType type, ReduceOp op) = 0;
  // In place: `root`'s array to all.
  virtual Status Broadcast(void* data, std::size_t count, DataType type,
                           int root) = 0;
  // `out` holds size() * count elements, in rank order.
  virtual Status AllGather(const void* in, void* out, std::size_t count,
                           DataType type) = 0;
  virtual Status Barrier() = 0;

  // Any thread. The first failure wins and reaches all ranks.
  virtual void Abort(CommFailure failure) = 0;
  // Set once the communicator is dead.
  virtual const CommFailure* failure() const = 0;
};

}  // namespace hvd
