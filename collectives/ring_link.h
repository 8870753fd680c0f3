// LeftLink, RightLink: what connects a rank to its two ring neighbours, and how
// they are made: AcceptLeft waits for the left one, DialRight calls the right
// one. Both prove job and world first (ring_handshake.h).
//
// Between workers of one host: one AF_UNIX connection, over which the dialler
// hands a shared ring and its doorbell. Otherwise two TCP connections, one for
// control and one for arrays.
//
// The two functions may run on two threads at once, with one RingListener.
#pragma once

#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "collectives/channel.h"
#include "collectives/doorbell.h"
#include "collectives/ring_handshake.h"
#include "collectives/ring_listener.h"
#include "collectives/ring_watch.h"

namespace hvd {

struct LeftLink {
  Neighbour neighbour;
  std::unique_ptr<ReceiveChannel> data;
};

struct RightLink {
  Neighbour neighbour;
  std::unique_ptr<SendChannel> data;
};

// How a link is to be made. What it refers to outlives the call.
struct LinkPlan {
  LinkIdentity identity;
  bool same_host = false;
  std::string_view key;
  const Doorbell& doorbell;  // of this rank's caller
  Instant deadline;
  int cancel_fd = -1;  // readable: give up; -1: nothing does
};

// Strangers are turned away and cannot hold it up. kTimeout: nobody came.
// kCancelled: see LinkPlan.
Result<LeftLink> AcceptLeft(const RingListener& listener, const LinkPlan& plan);

// Tries again until the deadline: the other one may not listen to this world
// yet. The error says what stood in the way. kCancelled as above.
Result<RightLink> DialRight(const Endpoint& right, const LinkPlan& plan);

// The error of a link that was given up.
Error LinkCancelled(const LinkPlan& plan);

// A descriptor that becomes readable when the process at the other end of an
// AF_UNIX `socket` ends; invalid if the kernel cannot say.
UniqueFd PeerPidfd(int socket);
// No Nagle on `socket`, and an unreachable host noticed within seconds.
void TuneTcp(int socket);

}  // namespace hvd
