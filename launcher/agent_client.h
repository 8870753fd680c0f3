// AgentClient: an agent's way to hvdrun.
//
// gRPC over TLS. hvdrun may be reachable at some of its addresses only, or at
// addresses that lead elsewhere from here: all are tried at once, and the first
// that shows the pinned certificate is it.
//
// Loop thread only; `done` runs on the loop, once, unless the client is
// destroyed first.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/result.h"
#include "launcher/agent_connection.h"
#include "launcher/agent_endpoint.h"

namespace hvd {

struct DialOptions {
  std::vector<AgentEndpoint> endpoints;  // hvdrun's
  std::string certificate;               // PEM
  std::string host;                      // whose agent this is
  std::string token;
  Duration limit{8'000};
};

struct DialedHvdrun {
  AgentEndpoint endpoint;  // the one that led there
  std::unique_ptr<AgentUplink> uplink;
};

// Must outlive the uplink that it gives.
class AgentClient {
 public:
  // kTimeout: names all addresses.
  static std::unique_ptr<AgentClient> Dial(
      EventLoop& loop, DialOptions options,
      std::function<void(Result<DialedHvdrun>)> done);
  virtual ~AgentClient() = default;
};

}  // namespace hvd
