// RingListener: where a worker's left neighbour of every world dials in.
//
// It lives as long as the process, unless the host gets another address; what
// arrives between two worlds waits in the backlog. AcceptLeft (ring_accept.h)
// takes connections from it.
#pragma once

#include <string>

#include "base/port_range.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "rendezvous/membership.h"

namespace hvd {

// Equal for workers that can share memory: the host as hvdrun names it, on the
// same boot of the same machine, in the same network name space.
std::string HostKeyOf(const std::string& host);

class RingListener {
 public:
  // `address`: an IP address in digits, the only one it listens at.
  // kUnavailable: it cannot be bound, or the range is full.
  static Result<RingListener> Listen(const std::string& address,
                                     std::string host_key,
                                     const PortRange& ports = {});

  const Endpoint& endpoint() const { return endpoint_; }
  int tcp_fd() const { return tcp_.get(); }
  int local_fd() const { return local_.get(); }

 private:
  RingListener() = default;
  Status ListenTcp(const std::string& address, const PortRange& ports);
  Status ListenLocal();

  Endpoint endpoint_;
  UniqueFd tcp_;
  UniqueFd local_;
};

}  // namespace hvd
