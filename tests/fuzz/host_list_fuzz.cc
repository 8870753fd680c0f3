// Reads the input as the value of -H.

#include <string_view>

#include "base/check.h"
#include "discovery/hosts.h"
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto hosts = hvd::ParseHostList(text, 1);
  if (!hosts.ok()) {
    HVD_CHECK(hosts.error().message().find('\n') == std::string::npos);
    return 0;
  }
  HVD_CHECK(hvd::TotalSlots(hosts.value()) <= hvd::kMaxSlots);
  std::string again;
  for (const hvd::HostSlots& host : hosts.value()) {
    HVD_CHECK(!host.host.empty() && host.slots >= 1);
    again += hvd::AsListItem(host) + ',';
  }
  // What was understood can be written down and is understood again.
  const auto reread = hvd::ParseHostList(again, 1);
  HVD_CHECK(reread.ok() && reread.value() == hosts.value());
  return 0;
}
