// Doubling: recursive doubling of small arrays among the hosts' first ranks.
//
// In each round two ranks exchange all they have and both combine it, the lower
// one's on the left, so that all have the same bits after log2 of them rounds.
// Every message starts with its sender's call (call.h). One thread at a time.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "collectives/data_type.h"
#include "collectives/doorbell.h"
#include "collectives/topology.h"
#include "collectives/vigil.h"
#include "collectives/wait_policy.h"

namespace hvd {

class Doubling {
 public:
  struct Parts {
    DoublingPlan plan;                // in hosts
    std::vector<int> speakers;        // the first rank of each host
    std::map<int, UniqueFd> sockets;  // by host
    WaitPolicy wait;
  };
  // `doorbell` and `vigil` outlive this.
  Doubling(int host, Parts parts, const Doorbell& doorbell, Vigil& vigil);

  // Combines `count` elements of all into `data`, on all.
  Status AllReduce(void* data, std::size_t count, DataType type, ReduceOp op);

  // A call of a partner that does not fit the one in progress.
  Status LookForStrays();

 private:
  class Exchange;

  // Sends `data` and receives as much into incoming_, or one of both.
  enum class Way { kBoth, kSend, kReceive };
  Status Meet(int host, Way way, const void* data, std::size_t bytes);
  int RankOf(int host) const {
    return parts_.speakers[static_cast<std::size_t>(host)];
  }

  int host_;
  Parts parts_;
  const Doorbell& doorbell_;
  Vigil& vigil_;
  std::vector<std::byte> outgoing_;  // with the call ahead
  std::vector<std::byte> incoming_;
  int busy_with_ = -1;  // host
};

}  // namespace hvd
