// Reads the input as a hostfile.

#include <string_view>

#include "base/check.h"
#include "discovery/hosts.h"
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto hosts = hvd::ParseHostfile(text, "hosts.txt", 2);
  if (!hosts.ok()) {
    const std::string& message = hosts.error().message();
    HVD_CHECK(message.rfind("hosts.txt:", 0) == 0);
    HVD_CHECK(message.find('\n') == std::string::npos);
    return 0;
  }
  HVD_CHECK(hvd::TotalSlots(hosts.value()) <= hvd::kMaxSlots);
  std::string again;
  for (const hvd::HostSlots& host : hosts.value()) {
    HVD_CHECK(!host.host.empty() && host.slots >= 1);
    again += hvd::AsHostfileLine(host) + '\n';
  }
  const auto reread = hvd::ParseHostfile(again, "again", 2);
  HVD_CHECK(reread.ok() && reread.value() == hosts.value());
  return 0;
}
