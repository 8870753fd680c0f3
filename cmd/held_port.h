// HeldPort: a TCP port kept for somebody else to listen on.
//
// Bound with SO_REUSEADDR and not listening: nobody else is given the port, and
// rank 0, which sets SO_REUSEADDR too (PyTorch's TCPStore does), can bind and
// listen beside it. No "find a free port, close, reopen" and its race.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

class HeldPort {
 public:
  // `address` is an IPv4 or IPv6 literal of this host.
  static Result<HeldPort> Bind(const std::string& address);

  std::uint16_t port() const { return port_; }

 private:
  HeldPort(UniqueFd fd, std::uint16_t port) : fd_(std::move(fd)), port_(port) {}

  UniqueFd fd_;
  std::uint16_t port_;
};

}  // namespace hvd
