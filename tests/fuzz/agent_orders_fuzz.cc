// Reads the input as the orders that an agent gets on its stdin.
#include <string_view>

#include "base/check.h"
#include "fuzz_target.h"
#include "launcher/agent_orders.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto orders = hvd::ParseAgentOrders(line);
  if (!orders.ok()) {
    HVD_CHECK(orders.error().message().find('\n') == std::string::npos);
    return 0;
  }
  HVD_CHECK(!orders.value().token.empty());
  HVD_CHECK(!orders.value().endpoints.empty());
  const auto again = hvd::ParseAgentOrders(hvd::ToJson(orders.value()));
  HVD_CHECK(again.ok());
  HVD_CHECK(again.value().endpoints == orders.value().endpoints);
  return 0;
}
