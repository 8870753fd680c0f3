// AgentEndpoint: an address and port that agents dial.
#pragma once

#include <cstdint>
#include <string>

namespace hvd {

struct AgentEndpoint {
  std::string address;  // a literal
  std::uint16_t port = 0;
  bool operator==(const AgentEndpoint&) const = default;
};

// "10.0.0.1:4000", "[fd77::1]:4000".
inline std::string ToString(const AgentEndpoint& endpoint) {
  const bool v6 = endpoint.address.find(':') != std::string::npos;
  return (v6 ? '[' + endpoint.address + ']' : endpoint.address) + ':' +
         std::to_string(endpoint.port);
}

}  // namespace hvd
