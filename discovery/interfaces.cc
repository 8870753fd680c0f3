#include "discovery/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/socket_address.h"

namespace hvd {
namespace {

// Only a bridge has this folder; where there is no /sys nothing is one.
bool IsBridge(const std::string& name) {
  struct stat folder {};
  const std::string path = "/sys/class/net/" + name + "/bridge";
  return ::stat(path.c_str(), &folder) == 0;
}

Interface Describe(const ifaddrs& entry) {
  const unsigned flags = entry.ifa_flags;
  Interface found;
  found.name = entry.ifa_name;
  found.index = static_cast<int>(::if_nametoindex(entry.ifa_name));
  found.up = (flags & IFF_UP) != 0;
  found.running = (flags & IFF_RUNNING) != 0;
  found.loopback = (flags & IFF_LOOPBACK) != 0;
  found.point_to_point = (flags & IFF_POINTOPOINT) != 0;
  found.bridge = IsBridge(found.name);
  return found;
}

int OnesIn(std::span<const unsigned char> mask) {
  int ones = 0;
  for (const unsigned char byte : mask) ones += std::popcount(byte);
  return ones;
}

template <class Address>
Address As(const sockaddr* raw) {
  Address address{};
  std::memcpy(&address, raw, sizeof address);
  return address;
}

template <class Address>
sockaddr_storage Stored(const Address& address) {
  sockaddr_storage storage{};
  std::memcpy(&storage, &address, sizeof address);
  return storage;
}

std::optional<InterfaceAddress> AddressIn(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || entry.ifa_netmask == nullptr) return {};
  if (entry.ifa_addr->sa_family == AF_INET) {
    const auto mask = As<sockaddr_in>(entry.ifa_netmask).sin_addr.s_addr;
    return InterfaceAddress{AddressOf(Stored(As<sockaddr_in>(entry.ifa_addr))),
                            std::popcount(mask)};
  }
  if (entry.ifa_addr->sa_family == AF_INET6) {
    const auto address = As<sockaddr_in6>(entry.ifa_addr);
    if (IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr)) return {};
    const auto mask = As<sockaddr_in6>(entry.ifa_netmask);
    return InterfaceAddress{AddressOf(Stored(address)),
                            OnesIn(mask.sin6_addr.s6_addr)};
  }
  return {};
}

// The words of one line.
std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

}  // namespace

Result<std::vector<Interface>> ListInterfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return Error::FromErrno("getifaddrs", errno);
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::map<std::string, Interface> by_name;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    auto found = by_name.find(entry->ifa_name);
    if (found == by_name.end()) {
      found = by_name.emplace(entry->ifa_name, Describe(*entry)).first;
    }
    if (auto address = AddressIn(*entry)) {
      found->second.addresses.push_back(*std::move(address));
    }
  }
  std::vector<Interface> interfaces;
  for (auto& [name, interface] : by_name) {
    interfaces.push_back(std::move(interface));
  }
  std::sort(
      interfaces.begin(), interfaces.end(),
      [](const Interface& a, const Interface& b) { return a.index < b.index; });
  return interfaces;
}

// Iface Destination Gateway Flags RefCnt Use Metric Mask ..., hexadecimal.
std::string DefaultRouteInterface(std::string_view proc_net_route) {
  std::string best;
  long best_metric = 0;
  while (!proc_net_route.empty()) {
    const std::size_t end =
        std::min(proc_net_route.find('\n'), proc_net_route.size());
    const auto words = Words(proc_net_route.substr(0, end));
    proc_net_route.remove_prefix(std::min(end + 1, proc_net_route.size()));
    if (words.size() < 8 || words[1] != "00000000" || words[7] != "00000000") {
      continue;
    }
    const long metric = std::strtol(std::string(words[6]).c_str(), nullptr, 10);
    if (best.empty() || metric < best_metric) {
      best = words[0];
      best_metric = metric;
    }
  }
  return best;
}

}  // namespace hvd
