// Reach table: who cannot reach whom, for a person to read.
//
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "discovery/probe_dialer.h"

namespace hvd {

struct ReachRow {
  std::string from;
  std::string to;
  std::string address;  // of `to`
  std::string outcome;  // "No route to host", "reached"
  bool operator==(const ReachRow&) const = default;
};

// "reached", "timed out after 2 s", "answered as host c", "no hvdrun there".
// `other`: the host whose identity answered, if it is known.
std::string OutcomeText(const ProbeResult& result, const std::string& other);

// A header, a line for each of the first `max_rows`, and how many are missing.
std::vector<std::string> FormatReachTable(const std::vector<ReachRow>& rows,
                                          std::size_t max_rows);

}  // namespace hvd
