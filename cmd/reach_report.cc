#include "cmd/reach_report.h"

#include <map>
#include <utility>

#include "base/one_line.h"
#include "cmd/text_table.h"
#include "discovery/reach_table.h"

namespace hvd {
namespace {

constexpr std::size_t kMaxRows = 40;

using Pair = std::pair<std::string, std::string>;
using ProbesOfPair = std::map<Pair, std::vector<const CheckedProbe*>>;

// One address is enough; but of a host that has one for all, that one.
bool Reaches(const std::vector<const CheckedProbe*>& tried,
             const CheckedHost& to) {
  for (const CheckedProbe* probe : tried) {
    const bool counts =
        !to.usable() || probe->probe.target.address == to.place.address;
    if (counts && probe->result.proved()) return true;
  }
  return false;
}

std::string MatrixText(const std::vector<CheckedHost>& hosts,
                       const ProbesOfPair& pairs) {
  std::vector<TableRow> rows(1, TableRow{"#", "host"});
  for (std::size_t i = 1; i <= hosts.size(); ++i) {
    rows[0].push_back(std::to_string(i));
  }
  for (const CheckedHost& from : hosts) {
    TableRow row = {std::to_string(rows.size()), from.host};
    for (const CheckedHost& to : hosts) {
      const auto tried = pairs.find({from.host, to.host});
      if (from.host == to.host) {
        row.emplace_back("-");
      } else if (!from.identity.empty() && from.identity == to.identity) {
        row.emplace_back("=");
      } else if (tried == pairs.end()) {
        row.emplace_back(".");
      } else {
        row.emplace_back(Reaches(tried->second, to) ? "+" : "x");
      }
    }
    rows.push_back(std::move(row));
  }
  return "\nwho reaches whom at the address above: + yes, x no, . not tried, "
         "= the same machine\n" +
         TextTable(rows);
}

std::string HostOf(const std::vector<CheckedHost>& hosts,
                   const std::string& identity) {
  for (const CheckedHost& host : hosts) {
    if (!identity.empty() && host.identity == identity) return host.host;
  }
  return "";
}

}  // namespace

std::string ReachReportText(const std::vector<CheckedHost>& hosts,
                            const std::vector<CheckedProbe>& probes) {
  if (probes.empty()) return "";
  std::map<std::string, const CheckedHost*> by_name;
  for (const CheckedHost& host : hosts) by_name[host.host] = &host;
  ProbesOfPair pairs;
  for (const CheckedProbe& probe : probes) {
    if (!by_name.contains(probe.probe.to)) continue;
    pairs[{probe.probe.from, probe.probe.to}].push_back(&probe);
  }
  std::size_t reached = 0;
  std::vector<ReachRow> failed;
  for (const auto& [pair, tried] : pairs) {
    if (Reaches(tried, *by_name.at(pair.second))) {
      ++reached;
      continue;
    }
    for (const CheckedProbe* probe : tried) {
      const ProbeResult& result = probe->result;
      failed.push_back(
          {pair.first, pair.second, probe->probe.target.address,
           OneLine(OutcomeText(result, HostOf(hosts, result.answered_as)))});
    }
  }
  std::string text = hosts.size() <= kMaxMatrix
                         ? MatrixText(hosts, pairs)
                         : "\nwho reaches whom: " + std::to_string(reached) +
                               " of " + std::to_string(pairs.size()) +
                               " pairs that were tried\n";
  if (failed.empty()) return text;
  for (const std::string& row : FormatReachTable(failed, kMaxRows)) {
    text += "  " + row + '\n';
  }
  return text;
}

}  // namespace hvd
