// SendWithFds, ReceiveWithFds: the short messages of a handshake, over
// base/fd_passing.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

// Sends all of `bytes`, which fit into an empty socket buffer, and `fds`.
Status SendWithFds(int socket, std::string_view bytes,
                   std::span<const int> fds);

// How many bytes it put into `out`; 0 if there is nothing yet. Descriptors that
// came along are appended to `fds`, close-on-exec. kUnavailable: end of stream,
// or descriptors that could not be had.
Result<std::size_t> ReceiveWithFds(int socket, std::span<char> out,
                                   std::vector<UniqueFd>& fds);

}  // namespace hvd
