// PeerOwner: which user owns the other end of a loopback connection, asked of
// the kernel (netlink sock_diag).
//
// A socket that its owner has closed has no owner any more: the answer is an
// error then, never a guess. Does not block. One thread.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

class PeerOwner {
 public:
  // `local` and `peer` as getsockname() and getpeername() of our end give them.
  Result<uid_t> Find(const sockaddr_storage& local,
                     const sockaddr_storage& peer);

 private:
  Status Open();

  UniqueFd netlink_;  // opened for the first question, kept for the next
  std::uint32_t sequence_ = 0;
};

}  // namespace hvd
