// AgentOrders: what hvdrun tells an agent over ssh, before the agent can dial.
//
// One line of JSON on the agent's stdin. It holds the agent's token: it is
// never an argument, a file or a line of a log. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/port_range.h"
#include "base/result.h"
#include "launcher/agent_endpoint.h"

namespace hvd {

struct AgentOrders {
  std::string host;   // whose agent it is, as the user wrote it
  std::string token;  // raw bytes; good for one connection
  std::vector<AgentEndpoint> endpoints;  // of hvdrun
  std::string certificate;               // hvdrun's, PEM
  std::string probe_key;                 // raw bytes; secret too
  PortRange ports;                       // for what the agent listens on
  Duration host_timeout{15'000};
  // As LocalLauncher::Options.
  std::optional<Duration> stopped_limit = {};
  Duration stop_grace{10'000};  // for what is left when hvdrun is gone
  bool operator==(const AgentOrders&) const = default;
};

// Without a newline.
std::string ToJson(const AgentOrders& orders);
// kInvalidArgument says what is missing or wrong; never shows the token.
Result<AgentOrders> ParseAgentOrders(std::string_view line);

}  // namespace hvd
