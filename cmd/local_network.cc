#include "cmd/local_network.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "discovery/interface_choice.h"

namespace hvd {
namespace {

HostInterfaces ThisMachine(const HostAddress& host,
                           const std::vector<Interface>& interfaces) {
  HostInterfaces machine;
  machine.host = host.host;
  machine.interfaces = interfaces;
  machine.preferred = {host.address};
  machine.is_local = true;
  return machine;
}

}  // namespace

Status UseInterfaces(const std::vector<std::string>& only,
                     const std::vector<Interface>& interfaces,
                     const std::vector<HostAddress>& hosts,
                     std::map<std::string, HostNetwork>& networks) {
  if (only.empty()) return Done{};
  for (const HostAddress& host : hosts) {
    if (!host.is_local) continue;
    const Result<HostPlace> place =
        PlaceOfLocalJob(ThisMachine(host, interfaces), only);
    if (!place.ok()) return place.error();
    networks[host.host].interface_name = place.value().interface_name;
    networks[host.host].ring_address = place.value().address;
  }
  return Done{};
}

std::vector<std::string> UnmatchedHere(
    const EnvList& user, const std::vector<Interface>& interfaces) {
  const HostInterfaces machine =
      ThisMachine({"localhost", "", true}, interfaces);
  return UnmatchedInterfaces(user, machine);
}

Status FitToThisMachine(const std::vector<std::string>& only,
                        const std::vector<HostAddress>& hosts, JobPlan& plan,
                        std::vector<std::string>& notes) {
  const bool named =
      std::any_of(kInterfaceVariables.begin(), kInterfaceVariables.end(),
                  [&](std::string_view variable) {
                    return EnvFind(plan.user_env, variable).has_value();
                  });
  if (only.empty() && !named) return Done{};
  const Result<std::vector<Interface>> interfaces = ListInterfaces();
  if (!interfaces.ok()) return interfaces.error();
  for (std::string& line : UnmatchedHere(plan.user_env, interfaces.value())) {
    notes.push_back(std::move(line));
  }
  return UseInterfaces(only, interfaces.value(), hosts, plan.env.networks);
}

}  // namespace hvd
