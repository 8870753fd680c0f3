// PeerOwner: which user owns the other end of a loopback connection, asked of
// the kernel (netlink sock_diag).
//
// A socket that its owner has closed has no owner any more: the answer is an
// error then, never a guess. Does not block.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include "base/result.h"

namespace hvd {

// `local` and `peer` as getsockname() and getpeername() of our end give them.
Result<uid_t> PeerOwner(const sockaddr_storage& local,
                        const sockaddr_storage& peer);

}  // namespace hvd
