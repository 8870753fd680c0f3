#include "discovery/interface_choice.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/socket_address.h"

namespace hvd {
namespace {

constexpr std::string_view kNcclVariable = "NCCL_SOCKET_IFNAME";

// An address as bits: 4 or 16 bytes.
std::vector<unsigned char> Bits(const std::string& literal) {
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET, literal.c_str(), bytes.data()) == 1) {
    return {bytes.begin(), bytes.begin() + 4};
  }
  if (::inet_pton(AF_INET6, literal.c_str(), bytes.data()) == 1) {
    return {bytes.begin(), bytes.end()};
  }
  return {};
}

bool InSubnet(const InterfaceAddress& subnet, const std::string& address) {
  const auto a = Bits(subnet.address);
  const auto b = Bits(address);
  if (a.empty() || a.size() != b.size() || subnet.prefix_length <= 0) {
    return false;
  }
  for (std::size_t bit = 0;
       bit < static_cast<std::size_t>(subnet.prefix_length) &&
       bit / 8 < a.size();
       ++bit) {
    const unsigned mask = 0x80U >> (bit % 8);
    if ((a[bit / 8] & mask) != (b[bit / 8] & mask)) return false;
  }
  return true;
}

bool IsLoopbackLiteral(const std::string& address) {
  const auto parsed = ParseSocketAddress(address, 0);
  return parsed && IsLoopback(parsed->storage);
}

template <class Range, class Value>
bool Contains(const Range& range, const Value& value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

bool IsV6(const std::string& address) {
  return address.find(':') != std::string::npos;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

std::string NamesOf(const std::vector<Interface>& interfaces) {
  std::vector<std::string> names;
  for (const Interface& interface : interfaces) names.push_back(interface.name);
  return names.empty() ? "none" : Joined(names);
}

CandidateRank RankOf(const Interface& interface,
                     const InterfaceAddress& address,
                     const HostInterfaces& host,
                     const std::vector<std::string>& written) {
  if (Contains(host.preferred, address.address)) return CandidateRank::kWritten;
  if (std::any_of(written.begin(), written.end(),
                  [&](const std::string& w) { return InSubnet(address, w); })) {
    return CandidateRank::kSameSubnet;
  }
  const bool last = interface.bridge || !interface.running;
  return last ? CandidateRank::kLast : CandidateRank::kOther;
}

bool Allowed(const Interface& interface, const std::vector<std::string>& only) {
  return only.empty() || Contains(only, interface.name);
}

Error NoCandidate(const HostInterfaces& host,
                  const std::vector<std::string>& only) {
  const std::string has = "it has " + NamesOf(host.interfaces);
  if (only.empty()) {
    return {ErrorCode::kInvalidArgument,
            "host " + host.host +
                " has no address that another machine could reach; " + has};
  }
  bool loopback = false;
  bool other = false;
  for (const Interface& interface : host.interfaces) {
    if (!Contains(only, interface.name)) continue;
    (interface.loopback ? loopback : other) = true;
  }
  const std::string flag = "--network-interfaces " + Joined(only) + ": ";
  if (other) {
    return {ErrorCode::kInvalidArgument,
            flag + "on host " + host.host + " that is down or has no address"};
  }
  if (loopback) {
    return {ErrorCode::kInvalidArgument,
            flag + "on host " + host.host +
                " that is loopback, which no other machine can reach; " + has};
  }
  return {ErrorCode::kInvalidArgument,
          flag + "host " + host.host + " has no such interface; " + has};
}

// IPv4 first; nullptr if it has no address.
const InterfaceAddress* AnyAddress(const Interface& interface) {
  const InterfaceAddress* any = nullptr;
  for (const InterfaceAddress& address : interface.addresses) {
    if (!IsV6(address.address)) return &address;
    if (any == nullptr) any = &address;
  }
  return any;
}

std::optional<HostPlace> PlaceOn(const Interface& interface) {
  const InterfaceAddress* address = AnyAddress(interface);
  if (!interface.up || address == nullptr) return std::nullopt;
  return HostPlace{interface.name, address->address};
}

template <class Wanted>
std::optional<HostPlace> FirstPlace(const HostInterfaces& host,
                                    const Wanted& wanted) {
  for (const Interface& interface : host.interfaces) {
    if (!wanted(interface)) continue;
    if (auto place = PlaceOn(interface)) return place;
  }
  return std::nullopt;
}

// In the user's order; loopback is as good as any.
Result<HostPlace> PlaceOfOnly(const HostInterfaces& host,
                              const std::vector<std::string>& only) {
  for (const std::string& name : only) {
    const auto place = FirstPlace(host, [&](const Interface& interface) {
      return interface.name == name;
    });
    if (place) return *place;
  }
  return NoCandidate(host, only);
}

std::string LoopbackName(const HostInterfaces& host) {
  const auto found =
      std::find_if(host.interfaces.begin(), host.interfaces.end(),
                   [](const Interface& i) { return i.loopback; });
  return found != host.interfaces.end() ? found->name : "lo";
}

HostPlace LoopbackPlace(const HostInterfaces& host) {
  const std::string address =
      host.preferred.empty() ? "127.0.0.1" : host.preferred.front();
  return {LoopbackName(host), address};
}

// "localhost" and 127.0.0.1 mean this machine, 127.0.0.2 an address.
bool MeansOneLoopbackAddress(const HostInterfaces& host) {
  return host.is_local && IsLoopbackLiteral(host.host) &&
         host.host != "127.0.0.1" && host.host != "::1";
}

std::optional<HostPlace> WrittenPlace(const HostInterfaces& host) {
  for (const std::string& address : host.preferred) {
    if (IsLoopbackLiteral(address)) continue;
    for (const Interface& interface : host.interfaces) {
      for (const InterfaceAddress& has : interface.addresses) {
        if (has.address == address) return HostPlace{interface.name, address};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Candidate>> CandidatesOf(
    const HostInterfaces& host, const std::vector<std::string>& written,
    const std::vector<std::string>& only) {
  std::vector<Candidate> candidates;
  for (const Interface& interface : host.interfaces) {
    if (interface.loopback || !interface.up || !Allowed(interface, only)) {
      continue;
    }
    for (const InterfaceAddress& address : interface.addresses) {
      candidates.push_back({{interface.name, address.address},
                            RankOf(interface, address, host, written)});
    }
  }
  if (candidates.empty()) return NoCandidate(host, only);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     if (a.rank != b.rank) return a.rank < b.rank;
                     return !IsV6(a.place.address) && IsV6(b.place.address);
                   });
  return candidates;
}

Result<HostPlace> PlaceOfMachineAlone(const HostInterfaces& host,
                                      const std::vector<std::string>& only) {
  if (!only.empty()) return PlaceOfOnly(host, only);
  if (MeansOneLoopbackAddress(host)) {
    return HostPlace{LoopbackName(host), host.host};
  }
  if (const auto written = WrittenPlace(host)) return *written;
  const auto routed = FirstPlace(host, [&](const Interface& interface) {
    return interface.name == host.default_route;
  });
  if (routed) return *routed;
  const auto first = FirstPlace(host, [](const Interface& interface) {
    return !interface.loopback && !interface.bridge;
  });
  return first ? *first : LoopbackPlace(host);
}

Result<HostPlace> PlaceOfLocalJob(const HostInterfaces& host,
                                  const std::vector<std::string>& only) {
  if (only.empty()) return LoopbackPlace(host);
  Result<HostPlace> place = PlaceOfOnly(host, only);
  if (place.ok() && place.value().interface_name == LoopbackName(host)) {
    return LoopbackPlace(host);
  }
  return place;
}

bool NcclFindsInterface(std::string_view value,
                        const std::vector<Interface>& interfaces) {
  if (value.empty()) return true;  // as if it were not set
  const bool exclude = value.starts_with('^');
  if (exclude) value.remove_prefix(1);
  const bool exact = value.starts_with('=');
  if (exact) value.remove_prefix(1);
  const auto listed = [&](const std::string& name) {
    std::string_view left = value;
    while (!left.empty()) {
      const std::size_t comma = std::min(left.find(','), left.size());
      // "eth0:4000" names a port as well.
      const std::string_view word =
          left.substr(0, std::min(left.substr(0, comma).find(':'), comma));
      left.remove_prefix(std::min(comma + 1, left.size()));
      if (exact ? name == word : name.starts_with(word)) return true;
    }
    return false;
  };
  return std::any_of(interfaces.begin(), interfaces.end(),
                     [&](const Interface& interface) {
                       return interface.up && listed(interface.name) != exclude;
                     });
}

std::optional<std::string> UnmatchedInterface(std::string_view variable,
                                              std::string_view value,
                                              const HostInterfaces& host) {
  const bool nccl = variable == kNcclVariable;
  const bool found =
      nccl ? NcclFindsInterface(value, host.interfaces)
           : std::any_of(host.interfaces.begin(), host.interfaces.end(),
                         [&](const Interface& i) { return i.name == value; });
  if (found) return std::nullopt;
  return std::string(variable) + '=' + std::string(value) +
         " matches no interface of host " + host.host + ", which has " +
         NamesOf(host.interfaces);
}

std::vector<std::string> UnmatchedInterfaces(const EnvList& user,
                                             const HostInterfaces& host) {
  std::vector<std::string> lines;
  for (const std::string_view variable : kInterfaceVariables) {
    const auto value = EnvFind(user, variable);
    if (!value) continue;
    if (auto line = UnmatchedInterface(variable, *value, host)) {
      lines.push_back(*std::move(line));
    }
  }
  return lines;
}

}  // namespace hvd
