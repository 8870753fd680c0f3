#include "cmd/machine_network.h"

#include <limits.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/hex.h"
#include "base/random_bytes.h"
#include "base/read_file.h"

namespace hvd {
namespace {

constexpr std::size_t kIdentityBytes = 16;
// An agent dials all of them at once.
constexpr std::size_t kMostAddresses = 32;

}  // namespace

std::string OwnHostName() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), HOST_NAME_MAX) == 0 ? name.data() : "";
}

std::string OwnSystem() {
  utsname system{};
  if (::uname(&system) != 0) return "";
  return std::string(system.sysname) + ' ' + system.release + ' ' +
         system.machine;
}

Result<MachineNetwork> MachineNetwork::Open(EventLoop& loop,
                                            const std::string& probe_key,
                                            const PortRange& ports) {
  std::string identity = ToHex(RandomBytes(kIdentityBytes));
  Result<HeldPort> master = HeldPort::Bind(kAllAddresses, ports);
  if (!master.ok()) return std::move(master).error();
  Result<std::unique_ptr<ProbeListener>> listener = ProbeListener::Listen(
      loop, {.key = probe_key, .identity = identity, .ports = ports});
  if (!listener.ok()) return std::move(listener).error();
  return MachineNetwork(std::move(identity), std::move(master).value(),
                        std::move(listener).value());
}

Result<HostInterfaces> MachineNetwork::Look() const {
  Result<std::vector<Interface>> interfaces = ListInterfaces();
  if (!interfaces.ok()) return std::move(interfaces).error();
  const Result<std::string> routes = ReadWholeFile("/proc/net/route");
  return HostInterfaces{
      .host = OwnHostName(),
      .identity = identity_,
      .probe_port = listener_->port(),
      .interfaces = std::move(interfaces).value(),
      .default_route =
          routes.ok() ? DefaultRouteInterface(routes.value()) : std::string(),
      .preferred = {},
      .is_local = false};
}

Result<std::vector<std::string>> AddressesToDial(
    const HostInterfaces& machine, const std::vector<std::string>& only) {
  Result<std::vector<Candidate>> candidates = CandidatesOf(machine, {}, only);
  if (!candidates.ok() && !only.empty()) return std::move(candidates).error();
  std::vector<std::string> addresses;
  if (candidates.ok()) {
    for (const Candidate& candidate : candidates.value()) {
      addresses.push_back(candidate.place.address);
    }
  }
  if (addresses.empty()) addresses.emplace_back("127.0.0.1");
  if (addresses.size() > kMostAddresses) addresses.resize(kMostAddresses);
  return addresses;
}

}  // namespace hvd
