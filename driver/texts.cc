#include "driver/texts.h"

#include <cstdint>

namespace hvd {

std::string CountText(int count, const std::string& noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string HostsText(const HostList& hosts) {
  if (hosts.size() > kMostNamed) {
    return CountText(static_cast<int>(hosts.size()), "host") + ", " +
           ToString(hosts.front()) + " to " + ToString(hosts.back());
  }
  std::string text;
  for (const HostSlots& host : hosts) {
    text += (text.empty() ? "" : " ") + ToString(host);
  }
  return text.empty() ? "no host" : text;
}

std::string EndText(const ExitStatus& status) {
  return status.signal != 0 ? "was killed by " + SignalName(status.signal)
                            : "exited with code " + std::to_string(status.code);
}

std::string EpochText(Epoch epoch) {
  return std::to_string(static_cast<std::uint64_t>(epoch));
}

}  // namespace hvd
