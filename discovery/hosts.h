// Hosts: which machines there are and how many workers each may run.
//
// Parses what people write: -H, hostfiles, discovery scripts. One rule for all
// three: the order is kept, a host named twice gets the sum of its slots.
// Names are not judged; whether one resolves is found out elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hvd {

struct HostSlots {
  std::string host;  // as written; IPv6 without its brackets
  int slots = 0;
  bool operator==(const HostSlots&) const = default;
};
using HostList = std::vector<HostSlots>;  // order decides ranks

// More slots than any host has, few enough that sums and ranks stay small.
constexpr int kMaxSlots = 65'535;

// "a:2,b:2,[fd77::1]:4,c": a host without a count gets `default_slots`; empty
// items are skipped. kInvalidArgument names the item.
Result<HostList> ParseHostList(std::string_view text, int default_slots);

// Lines "host", "host:2", "host slots=2"; "#" starts a comment; CRLF and a
// missing last newline are fine. kInvalidArgument: "<name>:<line>: <why>:
// <text>".
Result<HostList> ParseHostfile(std::string_view text, std::string_view name,
                               int default_slots);

int TotalSlots(const HostList& hosts);

// "a:2", "[fd77::1]:4": reads back as the same host.
std::string ToString(const HostSlots& host);

}  // namespace hvd
