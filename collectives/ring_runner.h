// RingRunner: carries out flows (ring_flow.h) between a rank and its neighbours
// in one ring, waiting as long as that takes.
//
// Every operation's first flow starts with each rank's call (call.h) going one
// step round, so that neighbours that disagree find out before an array is
// touched. One thread at a time.
#pragma once

#include <memory>

#include "base/result.h"
#include "collectives/call.h"
#include "collectives/channel.h"
#include "collectives/doorbell.h"
#include "collectives/ring_flow.h"
#include "collectives/vigil.h"
#include "collectives/wait_policy.h"

namespace hvd {

class RingRunner {
 public:
  struct Parts {
    int left;  // ranks
    int right;
    std::unique_ptr<ReceiveChannel> from_left;
    std::unique_ptr<SendChannel> to_right;
    WaitPolicy wait;
  };
  // `doorbell` and `vigil` outlive this.
  RingRunner(Parts parts, const Doorbell& doorbell, Vigil& vigil);

  // An empty flow, for Run. Kept for its memory.
  Flow& NewFlow();
  // The same with the call ahead.
  Flow& NewFlowWithCall();
  Status Run();
  // A token from each of `size` ranks passes all others: who has seen them all
  // knows that every rank has entered.
  Status PassTokens(int size);

  // A call from the left that does not fit the one in progress. Not while a
  // flow is under way.
  Status LookForStrays();

 private:
  class Wait;

  Parts parts_;
  const Doorbell& doorbell_;
  Vigil& vigil_;
  Flow flow_;
  bool with_call_ = false;
  bool running_ = false;
  CallHeader left_call_;
  std::uint64_t token_ = 0;
};

}  // namespace hvd
