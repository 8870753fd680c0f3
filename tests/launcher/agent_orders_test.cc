#include "launcher/agent_orders.h"

#include <catch2/catch.hpp>

namespace hvd {
namespace {

AgentOrders Orders() {
  return {.host = "b \"quoted\"",
          .token = std::string("\0\x01 token", 8),
          .endpoints = {{"10.0.0.1", 4000}, {"fd77::1", 65535}},
          .certificate = "-----BEGIN\nabc\n",
          .probe_key = "key",
          .ports = {4000, 4010},
          .host_timeout = Duration{1500},
          .stopped_limit = Duration{30'000},
          .stop_grace = Duration{0}};
}

}  // namespace

TEST_CASE("orders read back as they were given, in one line", "[agent]") {
  AgentOrders orders = Orders();
  const std::string json = ToJson(orders);
  CHECK(json.find('\n') == std::string::npos);
  REQUIRE(ParseAgentOrders(json).ok());
  CHECK(ParseAgentOrders(json).value() == orders);
  orders.stopped_limit.reset();
  CHECK(ParseAgentOrders(ToJson(orders)).value() == orders);
}

TEST_CASE("orders that lack something are refused, and show no secret",
          "[agent]") {
  const std::string json = ToJson(Orders());
  for (const char* name :
       {"host", "token", "endpoints", "certificate", "probe_key", "first_port",
        "last_port", "host_timeout_ms", "stopped_limit_ms", "stop_grace_ms"}) {
    std::string without = json;
    const std::string member = '"' + std::string(name) + '"';
    const std::size_t at = without.find(member);
    REQUIRE(at != std::string::npos);
    without[at + 1] = '_';
    const auto parsed = ParseAgentOrders(without);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().message() ==
          "orders of hvdrun: " + member + " is missing or cannot be meant");
  }
  for (const char* rubbish : {"", "null", "[]", "{", "{\"host\":5}", "\xff"}) {
    CHECK_FALSE(ParseAgentOrders(rubbish).ok());
  }
}

}  // namespace hvd
