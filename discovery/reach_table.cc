#include "discovery/reach_table.h"

#include <algorithm>

namespace hvd {
namespace {

std::string Padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

std::string OutcomeText(const ProbeResult& result, const std::string& other) {
  switch (result.kind) {
    case ProbeResult::Kind::kProved:
      return "reached";
    case ProbeResult::Kind::kOtherHost:
      return "answered as " +
             (other.empty() ? "another host of this job" : "host " + other);
    case ProbeResult::Kind::kNoHvdrun:
      return result.failure.empty() ? "no hvdrun there" : result.failure;
    case ProbeResult::Kind::kUnreached:
      return result.failure;
  }
  return "";
}

std::vector<std::string> FormatReachTable(const std::vector<ReachRow>& rows,
                                          std::size_t max_rows) {
  const ReachRow header{"from", "to", "address", "outcome"};
  const std::size_t shown = std::min(rows.size(), max_rows);
  std::size_t from = header.from.size();
  std::size_t to = header.to.size();
  std::size_t address = header.address.size();
  for (std::size_t i = 0; i < shown; ++i) {
    from = std::max(from, rows[i].from.size());
    to = std::max(to, rows[i].to.size());
    address = std::max(address, rows[i].address.size());
  }
  const auto line = [&](const ReachRow& row) {
    return Padded(row.from, from) + "  " + Padded(row.to, to) + "  " +
           Padded(row.address, address) + "  " + row.outcome;
  };
  std::vector<std::string> lines = {line(header)};
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(line(rows[i]));
  if (shown < rows.size()) {
    lines.push_back("and " + std::to_string(rows.size() - shown) + " more");
  }
  return lines;
}

}  // namespace hvd
