// HeldPort: a TCP port kept for somebody else to listen on.
//
// Bound and not listening: nobody else is given the port, another job's
// HeldPort neither, and rank 0, which sets SO_REUSEADDR (PyTorch's TCPStore
// does), can bind and listen beside it. No "find a free port, close, reopen"
// and its race.
#pragma once

#include <cstdint>
#include <string>

#include "base/port_range.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

class HeldPort {
 public:
  // `address` is an IPv4 or IPv6 literal of this host, or kAllAddresses.
  static Result<HeldPort> Bind(const std::string& address,
                               const PortRange& ports = {});

  std::uint16_t port() const { return port_; }

 private:
  HeldPort(UniqueFd fd, std::uint16_t port) : fd_(std::move(fd)), port_(port) {}

  UniqueFd fd_;
  std::uint16_t port_;
};

}  // namespace hvd
