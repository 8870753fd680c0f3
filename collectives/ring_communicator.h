// RingCommunicator: the Communicator of a world of two or more, over a ring of
// channels. Knows neither sockets nor shared memory: see ring_link.h.
//
// Every operation starts with each rank's call (call.h) going one step round,
// so that neighbours that disagree find out before an array is touched. An
// operation ends on a rank only when every rank has entered it with the same
// call: its data sees to that, or a token that goes round.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "collectives/call.h"
#include "collectives/communicator.h"
#include "collectives/doorbell.h"
#include "collectives/patience.h"
#include "collectives/ring_flow.h"
#include "collectives/ring_link.h"
#include "collectives/ring_watch.h"
#include "collectives/wait_policy.h"

namespace hvd {

class RingCommunicator : public Communicator {
 public:
  struct Parts {
    int rank;
    int size;
    LeftLink left;
    RightLink right;
    Doorbell doorbell;  // the one the links were made with
    WaitPolicy wait;
    Duration timeout;  // without progress, until a neighbour counts as silent
  };
  explicit RingCommunicator(Parts parts);
  // Tells the others that this rank leaves, unless the world is dead already.
  ~RingCommunicator() override;
  RingCommunicator(const RingCommunicator&) = delete;
  RingCommunicator& operator=(const RingCommunicator&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::uint64_t entered() const override { return watch_.entered(); }
  Status AllReduce(const void* in, void* out, std::size_t count, DataType type,
                   ReduceOp op) override;
  Status Broadcast(void* data, std::size_t count, DataType type,
                   int root) override;
  Status AllGather(const void* in, void* out, std::size_t count,
                   DataType type) override;
  Status Barrier() override;
  void Abort(CommFailure failure) override;
  const CommFailure* failure() const override { return watch_.failure(); }

 private:
  Status Enter(CallHeader call);
  Status Finish(Status status);
  void StartFlow();  // with this rank's call, and the left one's to come
  Status PassTokens();
  Status Run(bool starts_with_call);
  Result<bool> Move(RingFlow& run);
  Status CheckCall();
  void Sleep(const RingFlow& run, Patience& patience);
  void Inquire(const RingFlow& run);
  Status Fail(CommFailure failure);
  Status AwaitVerdict();
  std::optional<Status> Ended();

  int rank_;
  int size_;
  Duration timeout_;
  WaitPolicy wait_;
  Doorbell doorbell_;
  std::unique_ptr<ReceiveChannel> left_;
  std::unique_ptr<SendChannel> right_;
  CallHeader call_;            // of this rank, in progress or the last
  CallHeader left_call_;       // of the left neighbour
  Flow flow_;                  // kept for its memory
  bool left_entered_ = false;  // its call has come in
  std::uint64_t token_ = 0;
  std::uint64_t completed_ = 0;  // operations
  RingWatch watch_;
};

}  // namespace hvd
