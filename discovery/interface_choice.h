// Interface choice: which addresses of a host come into question, best first,
// and what a user's own choice of interfaces matches there.
//
// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "discovery/interfaces.h"

namespace hvd {

// What a host is, and what is known of it before anybody has tried.
struct HostInterfaces {
  std::string host;      // as the user wrote it
  std::string identity;  // of the machine; several names may be one machine
  std::uint16_t probe_port = 0;
  std::vector<Interface> interfaces;
  std::string default_route;  // the interface of it; "" if there is none
  // Literals: what `host` resolves to where hvdrun runs.
  std::vector<std::string> preferred;
  bool is_local = false;  // the machine that hvdrun runs on
  bool operator==(const HostInterfaces&) const = default;
};

struct HostPlace {
  std::string interface_name;
  std::string address;
  bool operator==(const HostPlace&) const = default;
};

// How likely it is that others reach a candidate; lower is better.
enum class CandidateRank {
  kWritten,     // the address that the user wrote for this host
  kSameSubnet,  // in a subnet of which the user wrote an address
  kOther,
  kLast,  // a bridge, or without a carrier
};

struct Candidate {
  HostPlace place;
  CandidateRank rank = CandidateRank::kOther;
  bool operator==(const Candidate&) const = default;
};

// The addresses at which other machines may reach `host`, best first; never
// loopback. `written`: all addresses that the user wrote, of all hosts.
// `only`: --network-interfaces, empty: any. kInvalidArgument: none is left;
// says what the host has.
Result<std::vector<Candidate>> CandidatesOf(
    const HostInterfaces& host, const std::vector<std::string>& written,
    const std::vector<std::string>& only);

// For a machine while no other is there but others may come: the address that
// was written, the interface of the default route, the first that is up and no
// bridge, or at last loopback. A host of this machine that is written as
// 127.0.0.2 or the like keeps that. kInvalidArgument: none of `only` is here.
Result<HostPlace> PlaceOfMachineAlone(const HostInterfaces& host,
                                      const std::vector<std::string>& only);

// For a job that has no other machine and never will: loopback, unless `only`
// says otherwise.
Result<HostPlace> PlaceOfLocalJob(const HostInterfaces& host,
                                  const std::vector<std::string>& only);

// True if NCCL finds an interface by `value` of NCCL_SOCKET_IFNAME: "eth,ib"
// are prefixes, "=eth0" is a name, "^docker,lo" and "^=eth0" are what not to
// use.
bool NcclFindsInterface(std::string_view value,
                        const std::vector<Interface>& interfaces);

// A line if `value`, which the user exported as `variable`
// (NCCL_SOCKET_IFNAME or HOROVOD_GLOO_IFACE), matches nothing on `host`; names
// both, and what there is. nullopt: it does.
std::optional<std::string> UnmatchedInterface(std::string_view variable,
                                              std::string_view value,
                                              const HostInterfaces& host);

// By which users choose interfaces for NCCL and for Gloo.
inline constexpr std::array<std::string_view, 2> kInterfaceVariables = {
    "NCCL_SOCKET_IFNAME", "HOROVOD_GLOO_IFACE"};
// The same for those of them that `user` has.
std::vector<std::string> UnmatchedInterfaces(const EnvList& user,
                                             const HostInterfaces& host);

}  // namespace hvd
