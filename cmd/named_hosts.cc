#include "cmd/named_hosts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace hvd {
namespace {

// A resolver that does not answer takes longer than anybody wants to wait.
constexpr Duration kLookupLimit{8'000};

}  // namespace

Result<std::vector<HostAddress>> LookUpAllHosts(
    EventLoop& loop, const Settings& settings,
    const std::function<bool()>& stop) {
  std::vector<std::string> names;
  for (const HostSlots& host : settings.hosts) names.push_back(host.host);
  if (names.empty()) return std::vector<HostAddress>{};  // still to be found
  std::optional<Result<std::vector<HostAddress>>> found;
  const auto lookup =
      LookUpHosts(loop, names, std::min(settings.start_timeout, kLookupLimit),
                  [&](Result<std::vector<HostAddress>> addresses) {
                    found.emplace(std::move(addresses));
                  });
  loop.RunUntil([&] { return found || stop(); }, 2 * kLookupLimit);
  if (!found) {
    return Error{ErrorCode::kCancelled, "stopped while looking up hosts"};
  }
  return *std::move(found);
}

void LeaveNetworksOpen(const HostList& hosts, JobEnv& env) {
  const std::string open = "<proved at the start>";
  for (const HostSlots& host : hosts) {
    HostNetwork& network = env.networks[host.host];
    network.interface_name = open;
    network.ring_address = open;
    network.rendezvous_address = open;
  }
}

bool AllLocal(const std::vector<HostAddress>& hosts) {
  return std::all_of(hosts.begin(), hosts.end(),
                     [](const HostAddress& host) { return host.is_local; });
}

}  // namespace hvd
