// ListenersOf: where a process listens for TCP connections, as the kernel says.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hvd::testing {

struct Listener {
  std::string address;
  std::uint16_t port = 0;
};

// In this network name space; empty for a process that is not there.
std::vector<Listener> ListenersOf(pid_t pid);
bool ListensAt(pid_t pid, const std::string& address);

}  // namespace hvd::testing
