// RawConnection: bytes to and from a TCP port of this machine, with no idea of
// what they mean; for what a well-behaved client never sends.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace hvd::testing {

class RawConnection {
 public:
  // To 127.0.0.1; fails the test when nobody listens.
  explicit RawConnection(std::uint16_t port);

  // False: the peer has closed, or takes nothing for two seconds.
  bool Send(std::string_view bytes) const;
  // All there is until the peer closes or `limit` is over.
  std::string ReceiveAll(std::chrono::milliseconds limit) const;
  // Up to the first blank line.
  std::string ReceiveHead(std::chrono::milliseconds limit) const;

 private:
  UniqueFd fd_;
};

}  // namespace hvd::testing
