// Link: a connection between two ranks of one world, and how it is made: the
// ranks that are to accept wait in AcceptLinks, the others call DialLink. Both
// prove job and world first (link_handshake.h).
//
// Between workers of one host a link is an AF_UNIX connection, over which
// descriptors can be handed; otherwise it is TCP.
//
// AcceptLinks and DialLink may run on two threads at once, with one
// RingListener.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "collectives/link_handshake.h"
#include "collectives/ring_listener.h"

namespace hvd {

// One link that a rank waits for or dials.
struct LinkWanted {
  LinkIdentity identity;
  LinkPurpose purpose = LinkPurpose::kControl;
  bool same_host = false;
  // What this end hands to the other, where both are on one host.
  std::vector<int> fds;
};

// For all links of a rank. What it refers to outlives the call.
struct LinkTerms {
  std::string_view key;
  Instant deadline;
  int cancel_fd = -1;  // readable: give up; -1: nothing does
};

struct Link {
  UniqueFd socket;
  std::vector<UniqueFd> fds;  // what the other end handed over
};

// Waits until all stand; in the order of `wanted`. Strangers are turned away
// and cannot hold it up. kTimeout: somebody did not come. kCancelled: see
// LinkTerms.
Result<std::vector<Link>> AcceptLinks(const RingListener& listener,
                                      std::span<const LinkWanted> wanted,
                                      const LinkTerms& terms);

// Tries again until the deadline: the other one may not listen to this world
// yet. The error says what stood in the way. kCancelled as above.
Result<Link> DialLink(const Endpoint& to, const LinkWanted& wanted,
                      const LinkTerms& terms);

// The error of a link that was given up.
Error LinkCancelled(const LinkIdentity& identity);

// A descriptor that becomes readable when the process at the other end of an
// AF_UNIX `socket` ends; invalid if the kernel cannot say.
UniqueFd PeerPidfd(int socket);
// No Nagle on `socket`, and an unreachable host noticed within seconds.
void TuneTcp(int socket);

}  // namespace hvd
