#include "launcher/agent_orders.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/hex.h"

namespace hvd {
namespace {

using nlohmann::json;

// A day: longer than anybody waits for a host.
constexpr std::int64_t kLongestMs = 86'400'000;

// Reads one member after another; the first that is wrong is remembered.
class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {}

  std::string Text(const char* name) {
    const json* found = Find(name);
    if (found != nullptr && found->is_string()) {
      return found->get<std::string>();
    }
    Fail(name);
    return {};
  }
  std::string Secret(const char* name) {
    const std::optional<std::string> bytes = FromHex(Text(name));
    if (!bytes || bytes->empty()) Fail(name);
    return bytes.value_or("");
  }
  std::uint16_t Port(const char* name) {
    return static_cast<std::uint16_t>(
        Number(name, std::numeric_limits<std::uint16_t>::max()));
  }
  std::int64_t Number(const char* name, std::int64_t most) {
    const json* found = Find(name);
    if (found != nullptr && found->is_number_unsigned() &&
        found->get<std::uint64_t>() <= static_cast<std::uint64_t>(most)) {
      return found->get<std::int64_t>();
    }
    Fail(name);
    return 0;
  }
  const json& Array(const char* name) {
    static const json nothing = json::array();
    const json* found = Find(name);
    if (found != nullptr && found->is_array()) return *found;
    Fail(name);
    return nothing;
  }
  void Fail(const char* name) {
    if (!wrong_) wrong_ = name;
  }
  const std::optional<std::string>& wrong() const { return wrong_; }

 private:
  const json* Find(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

  const json& object_;
  std::optional<std::string> wrong_;
};

AgentEndpoint ReadEndpoint(const json& object, Reader& whole) {
  Reader read(object);
  AgentEndpoint endpoint{read.Text("address"), read.Port("port")};
  if (read.wrong()) whole.Fail("endpoints");
  return endpoint;
}

}  // namespace

std::string ToJson(const AgentOrders& orders) {
  json endpoints = json::array();
  for (const AgentEndpoint& endpoint : orders.endpoints) {
    endpoints.push_back(
        {{"address", endpoint.address}, {"port", endpoint.port}});
  }
  const json object = {
      {"host", orders.host},
      {"token", ToHex(orders.token)},
      {"endpoints", endpoints},
      {"certificate", orders.certificate},
      {"probe_key", ToHex(orders.probe_key)},
      {"first_port", orders.ports.first},
      {"last_port", orders.ports.last},
      {"host_timeout_ms", orders.host_timeout.count()},
      {"stopped_limit_ms", orders.stopped_limit.value_or(Duration{0}).count()},
      {"stop_grace_ms", orders.stop_grace.count()}};
  // A host's name is whatever the user wrote.
  return object.dump(-1, ' ', true, json::error_handler_t::replace);
}

Result<AgentOrders> ParseAgentOrders(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  Reader read(object);
  AgentOrders orders;
  orders.host = read.Text("host");
  orders.token = read.Secret("token");
  orders.probe_key = read.Secret("probe_key");
  orders.ports = {read.Port("first_port"), read.Port("last_port")};
  orders.certificate = read.Text("certificate");
  orders.host_timeout = Duration(read.Number("host_timeout_ms", kLongestMs));
  const Duration stopped(read.Number("stopped_limit_ms", kLongestMs));
  if (stopped > Duration{0}) orders.stopped_limit = stopped;
  orders.stop_grace = Duration(read.Number("stop_grace_ms", kLongestMs));
  for (const json& endpoint : read.Array("endpoints")) {
    orders.endpoints.push_back(ReadEndpoint(endpoint, read));
  }
  if (orders.endpoints.empty()) read.Fail("endpoints");
  if (read.wrong()) {
    return Error{ErrorCode::kInvalidArgument,
                 "orders of hvdrun: \"" + *read.wrong() +
                     "\" is missing or cannot be meant"};
  }
  return orders;
}

}  // namespace hvd
