// WorldCommunicator: the Communicator of a world of two or more. It chooses by
// size and place how an operation goes: within a host through shared memory
// (local_calls.h), between hosts round a ring (ring_calls.h) or by recursive
// doubling (doubling.h), or both one after the other.
//
// Whatever goes which way, ranks that call different things meet somewhere:
// each says its call ahead of all else, to its host and to whom it is linked,
// and who waits in vain looks at all that was said.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "collectives/communicator.h"
#include "collectives/doorbell.h"
#include "collectives/doubling.h"
#include "collectives/local_group.h"
#include "collectives/ring_calls.h"
#include "collectives/ring_runner.h"
#include "collectives/ring_watch.h"
#include "collectives/selection.h"
#include "collectives/topology.h"
#include "collectives/vigil.h"

namespace hvd {

class WorldCommunicator : public Communicator {
 public:
  struct Group {  // of a host with two ranks or more
    LocalSegment segment;
    HeapMap heaps;
    SpinPolicy spin;
  };
  struct Parts {
    Topology topology;
    Selection table;
    Duration timeout;   // without progress, until a rank counts as silent
    Doorbell doorbell;  // the one the links were made with
    Neighbour left;     // control
    Neighbour right;
    std::optional<Group> group;
    // Between hosts only.
    std::optional<RingRunner::Parts> ring;    // of all ranks
    std::optional<RingRunner::Parts> rail;    // of the hosts, at this place
    std::optional<Doubling::Parts> doubling;  // on hosts' first ranks
  };
  explicit WorldCommunicator(Parts parts);
  // Tells the others that this rank leaves, unless the world is dead already.
  ~WorldCommunicator() override;
  WorldCommunicator(const WorldCommunicator&) = delete;
  WorldCommunicator& operator=(const WorldCommunicator&) = delete;

  int rank() const override { return topology_.rank; }
  int size() const override { return topology_.size; }
  std::uint64_t entered() const override { return watch_.entered(); }
  Status AllReduce(const void* in, void* out, std::size_t count, DataType type,
                   ReduceOp op) override;
  Status ReduceScatter(const void* in, void* out, std::size_t count,
                       DataType type, ReduceOp op) override;
  Status Broadcast(void* data, std::size_t count, DataType type,
                   int root) override;
  Status AllGather(const void* in, void* out, const Shares& shares,
                   DataType type) override;
  Status AllToAll(const void* in, const Shares& sent, void* out,
                  const Shares& received, DataType type) override;
  Status Barrier() override;
  void Abort(CommFailure failure) override;
  void Declare(CommFailure failure) override;
  const CallLedger& ledger() const override { return ledger_; }
  const CommFailure* failure() const override { return watch_.failure(); }

 private:
  bool one_host() const { return topology_.host_count() == 1; }
  RingPlace InRing() const { return {topology_.rank, topology_.size}; }

  // `bytes`: of this rank's input.
  Status Enter(CallHeader call, std::size_t bytes);
  // For all of the host to see, where its shared memory has no other part in
  // the call: a rank that waits there must see what this one calls.
  void ShowHost();
  Status Finish(Status status);
  Status LookAround();
  void WakeCaller() const;

  Status ReduceBetweenHosts(const Reduction& what);
  Status ReduceSmallBetweenHosts(const Reduction& what);
  Status ReduceSlab(const Reduction& what);
  Status ExchangeCounts(const Shares& sent, const Shares& received);

  const Topology topology_;
  const Selection table_;
  const std::uint32_t table_hash_;
  CallLedger ledger_;
  Doorbell doorbell_;
  Vigil vigil_;
  std::optional<LocalGroup> group_;
  std::optional<RingRunner> ring_;
  std::optional<RingRunner> rail_;
  std::optional<Doubling> doubling_;
  std::vector<std::byte> wide_;      // kept for its memory
  std::vector<std::size_t> counts_;  // of an alltoall: all ranks'
  RingWatch watch_;                  // last: its thread wakes the others
};

}  // namespace hvd
