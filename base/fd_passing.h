// Descriptors that ride on the bytes of an AF_UNIX stream (SCM_RIGHTS): one
// non-blocking step each way. Works on TCP too, where nothing rides.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

inline constexpr std::size_t kMaxPassedFds = 4;  // with one message

// Sends what the socket takes now; how many bytes: 0 if it takes none. `fds`
// go with the first byte, so they are on their way once the answer is not 0.
Result<std::size_t> SendStep(int socket, std::string_view bytes,
                             std::span<const int> fds);

struct ReceivedStep {
  std::size_t bytes = 0;  // 0: nothing is there yet
  bool end = false;       // the other end closed or is gone
  // Some of the descriptors that came could not be had (the limit on open
  // files); the others of that message were closed, since which is which is no
  // longer known.
  bool fds_lost = false;
};

// Puts bytes into `out` and appends what rode on them, close-on-exec, to `fds`.
Result<ReceivedStep> ReceiveStep(int socket, std::span<char> out,
                                 std::vector<UniqueFd>& fds);

}  // namespace hvd
