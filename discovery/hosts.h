// Hosts: which machines there are and how many workers each may run.
//
// Parses what people write: -H, hostfiles, discovery scripts. One rule for all
// three: the order is kept, a host named twice gets the sum of its slots and
// has one login.
// Names are not judged; whether one resolves is found out elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hvd {

// How to log in to a host, as far as the user says so there. It is not a part
// of what the host is: workers and ranks know nothing of it.
struct Login {
  std::optional<std::string> user = {};
  std::optional<std::uint16_t> port = {};
  bool operator==(const Login&) const = default;
};

struct HostSlots {
  std::string host;  // as written; IPv6 without its brackets, no user
  int slots = 0;
  Login login = {};
  bool operator==(const HostSlots&) const = default;
};
using HostList = std::vector<HostSlots>;  // order decides ranks

// More slots than any host has, few enough that sums and ranks stay small.
constexpr int kMaxSlots = 65'535;

// "a:2,root@b:2,[fd77::1]:4,c": a host without a count gets `default_slots`;
// empty items are skipped. kInvalidArgument names the item.
Result<HostList> ParseHostList(std::string_view text, int default_slots);

// Lines "host", "root@host:2", "host slots=2 port=2222"; "#" starts a comment;
// CRLF and a missing last newline are fine. kInvalidArgument: "<name>:<line>:
// <why>: <text>".
Result<HostList> ParseHostfile(std::string_view text, std::string_view name,
                               int default_slots);

int TotalSlots(const HostList& hosts);

// "a:2", "[fd77::1]:4": the host and its slots, without its login.
std::string ToString(const HostSlots& host);
// "root@a:2": as an item of -H, where no port can be said.
std::string AsListItem(const HostSlots& host);
// "root@a:2 port=2222": reads back as the same host.
std::string AsHostfileLine(const HostSlots& host);

}  // namespace hvd
