// RingFlow: one operation's bytes, on their way to the right and from the left.
//
// A Flow lists what is sent and what is received, in order. Sending runs ahead
// of receiving by `head` bytes at most: byte head + k leaves only once k bytes
// (after the first `prefix`) came in, because it is one of those, combined. So
// a long array streams through all ranks at once instead of chunk after chunk.
//
// It moves what the channels take and give now, and neither waits nor knows
// the time. One thread.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "collectives/channel.h"
#include "collectives/data_type.h"
#include "collectives/reduce_kernels.h"
#include "collectives/ring_schedule.h"

namespace hvd {

struct SendPiece {
  const void* data = nullptr;
  std::size_t bytes = 0;
};

struct ReceivePiece {
  void* out = nullptr;
  std::size_t bytes = 0;
  OnReceipt on_receipt = OnReceipt::kStore;
  const void* own = nullptr;  // combined with what comes in; may be `out`
};

struct Flow {
  std::vector<SendPiece> sends;
  std::vector<ReceivePiece> receives;
  std::size_t head = 0;    // padded bytes that depend on nothing
  std::size_t prefix = 0;  // padded bytes received on which nothing depends
  // Of the pieces that are combined; kCombineLast divides.
  DataType type = DataType::kInt32;
  ReduceOp op = ReduceOp::kSum;
  Divisor divisor = 1;
  std::size_t own_size = 0;  // of an element of ReceivePiece::own, if it is
                             // not `type`: then it is what kWiden puts out

  void Clear();
};

class RingFlow {
 public:
  // All three outlive this.
  RingFlow(const Flow& flow, SendChannel& right, ReceiveChannel& left);

  // Each moves one piece at most. False: nothing could be moved now.
  Result<bool> Send();
  Result<bool> Receive();

  bool done() const { return all_sent() && all_received(); }
  bool all_sent() const { return send_index_ == flow_.sends.size(); }
  bool all_received() const { return receive_index_ == flow_.receives.size(); }
  // Whether bytes wait for room only, not for what must come in before.
  bool may_send() const { return !all_sent() && Allowance() > 0; }
  std::size_t pieces_received() const { return receive_index_; }

 private:
  std::size_t Allowance() const;
  void SkipEmptyPieces();
  Result<std::size_t> SendSome(const SendPiece& piece);
  Result<std::size_t> ReceiveSome(const ReceivePiece& piece);
  Result<std::size_t> ReceivePadding(std::size_t bytes);
  Result<std::size_t> CombineSome(const ReceivePiece& piece);

  const Flow& flow_;
  SendChannel& right_;
  ReceiveChannel& left_;
  std::size_t send_index_ = 0;
  std::size_t send_at_ = 0;  // within the padded piece
  std::size_t sent_ = 0;     // padded bytes in all
  std::size_t receive_index_ = 0;
  std::size_t receive_at_ = 0;
  std::size_t received_ = 0;
};

}  // namespace hvd
