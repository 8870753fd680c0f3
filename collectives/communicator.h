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
#include <span>
#include <string>

#include "base/result.h"
#include "collectives/call_ledger.h"
#include "collectives/data_type.h"
#include "collectives/shares.h"

namespace hvd {

// Why a communicator is dead. `rank`: the one that died, fell silent or left;
// -1 if no one rank is to blame, as when two disagree. `text` is the same on
// all ranks.
struct CommFailure {
  int rank = -1;
  ErrorCode code = ErrorCode::kUnavailable;
  std::string text;
};

// Pointers need no alignment. `in` and `out` do not overlap, unless they are
// equal or it says otherwise. Results are bitwise the same on all ranks, and
// each time for the same world, hosts and thresholds. An operation ends on a
// rank only when all ranks have entered it.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Any thread. How many calls this rank has begun.
  virtual std::uint64_t entered() const = 0;

  // `count` elements each.
  virtual Status AllReduce(const void* in, void* out, std::size_t count,
                           DataType type, ReduceOp op) = 0;
  // `in` holds size() * count elements, of which the rank's own part is
  // combined into `out`, which may be that part.
  virtual Status ReduceScatter(const void* in, void* out, std::size_t count,
                               DataType type, ReduceOp op) = 0;
  // In place: `root`'s array to all.
  virtual Status Broadcast(void* data, std::size_t count, DataType type,
                           int root) = 0;
  // `out` holds the parts of all ranks, in rank order; `in` this rank's, and
  // may be its part of `out`.
  virtual Status AllGather(const void* in, void* out, const Shares& shares,
                           DataType type) = 0;
  // sent.Count(r) elements go to rank r, received.Count(r) come from it, both
  // in rank order; in == out if the counts are alike. A rank that expects
  // something else than another sends is a difference.
  virtual Status AllToAll(const void* in, const Shares& sent, void* out,
                          const Shares& received, DataType type) = 0;
  virtual Status Barrier() = 0;

  // Any thread. The first failure wins and reaches all ranks.
  virtual void Abort(CommFailure failure) = 0;
  // Any thread. As Abort, for what all ranks are told in the same words: there
  // is nothing to agree on.
  virtual void Declare(CommFailure failure) = 0;
  // Any thread. What has been done so far.
  virtual const CallLedger& ledger() const = 0;
  // Set once the communicator is dead.
  virtual const CommFailure* failure() const = 0;
};

}  // namespace hvd
