#include "cmd/hosts_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/one_line.h"
#include "cmd/reach_report.h"
#include "cmd/text_table.h"

namespace hvd {
namespace {

constexpr std::size_t kMostNamed = 10;
constexpr double kKilo = 1e3;

std::string Count(std::size_t count, const std::string& noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string Printed(const char* format, double value) {
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

// "8.71 Gbit/s"; three digits that count.
std::string RateText(double rate) {
  constexpr std::array<const char*, 4> kUnits = {" bit/s", " kbit/s", " Mbit/s",
                                                 " Gbit/s"};
  std::size_t unit = 0;
  while (rate >= kKilo && unit + 1 < kUnits.size()) {
    rate /= kKilo;
    ++unit;
  }
  const char* format = rate < 10 ? "%.2f" : rate < 100 ? "%.1f" : "%.0f";
  return Printed(format, rate) + kUnits.at(unit);
}

std::string RoundTripText(std::chrono::microseconds time) {
  return Printed("%.3f ms", static_cast<double>(time.count()) / kKilo);
}

std::string Names(const std::vector<CheckedHost>& hosts,
                  const std::vector<std::size_t>& places) {
  std::string text;
  for (std::size_t i = 0; i < places.size() && i < kMostNamed; ++i) {
    text += (i == 0 ? "" : ", ") + hosts[places[i]].host;
  }
  if (places.size() > kMostNamed) {
    text += " and " + std::to_string(places.size() - kMostNamed) + " more";
  }
  return text;
}

std::string AgentText(const CheckedHost& host) {
  if (host.is_local) return "this machine";
  return host.version.empty() ? "" : OneLine(host.version);
}

std::string ClockText(const CheckedHost& host) {
  if (host.clock) return ClockOffsetText(*host.clock);
  return host.usable() && !host.is_local ? "no answer" : "";
}

void AddHosts(const HostsReport& report, std::string& out) {
  int slots = 0;
  std::vector<TableRow> rows = {{"#", "host", "slots", "address", "interface",
                                 "agent", "clock", "calls itself", "system"}};
  for (const CheckedHost& host : report.hosts) {
    slots += host.slots;
    rows.push_back({std::to_string(rows.size()), host.host,
                    std::to_string(host.slots),
                    host.usable() ? host.place.address : "cannot be used",
                    host.place.interface_name, AgentText(host), ClockText(host),
                    OneLine(host.name), OneLine(host.system)});
  }
  out += "hvdrun " + report.version + ": " +
         Count(report.hosts.size(), "host") + ", " +
         Count(static_cast<std::size_t>(slots), "slot") + '\n' +
         TextTable(rows);
}

void AddLinks(const HostsReport& report, std::string& out) {
  if (report.links.empty()) return;
  out += "\nfrom each machine to the next: the least and the median of " +
         std::to_string(LinkMeter::kPings) + " round trips, and bandwidth\n";
  std::vector<TableRow> rows = {{"from", "to", "least", "median", "bandwidth"}};
  for (const CheckedLink& link : report.links) {
    TableRow row = {report.hosts[link.from].host, report.hosts[link.to].host};
    const LinkResult& result = link.result;
    if (const std::optional<double> rate = RateOf(result)) {
      row.insert(row.end(),
                 {RoundTripText(result.least_round_trip),
                  RoundTripText(result.median_round_trip), RateText(*rate)});
    } else {
      row.insert(row.end(),
                 {"", "", "not measured: " + OneLine(result.failure)});
    }
    rows.push_back(std::move(row));
  }
  out += TextTable(rows);
}

// Of machine `place` of the ring: "b: 0.97 Mbit/s from a and 0.95 Mbit/s to c,
// where 8.71 Gbit/s is usual".
std::string SlowMachine(const HostsReport& report, std::size_t place,
                        double usual) {
  const std::size_t size = report.links.size();
  const CheckedLink& in = report.links[(place + size - 1) % size];
  const CheckedLink& out = report.links[place];
  return "slow: host " + report.hosts[out.from].host + ", " +
         RateText(*RateOf(in.result)) + " from " + report.hosts[in.from].host +
         " and " + RateText(*RateOf(out.result)) + " to " +
         report.hosts[out.to].host + "; " + RateText(usual) +
         " is usual here\n";
}

std::string SlowLink(const HostsReport& report, std::size_t place,
                     double usual) {
  const CheckedLink& link = report.links[place];
  return "slow: from " + report.hosts[link.from].host + " to " +
         report.hosts[link.to].host + ", " + RateText(*RateOf(link.result)) +
         "; " + RateText(usual) + " is usual here\n";
}

std::string SlowText(const HostsReport& report) {
  const SlowLinks slow = report.slow_links();
  const std::size_t size = report.links.size();
  std::string text;
  std::vector<bool> told(size, false);
  for (const std::size_t machine : slow.machines) {
    text += SlowMachine(report, machine, slow.usual);
    told[machine] = told[(machine + size - 1) % size] = true;
  }
  for (const std::size_t link : slow.links) {
    if (!told[link]) text += SlowLink(report, link, slow.usual);
  }
  return text;
}

std::string WarningsText(const HostsReport& report) {
  std::string text;
  for (const CheckedHost& host : report.hosts) {
    if (host.clock && IsClockWrong(*host.clock)) {
      text += "warning: the clock of host " + host.host + " differs by " +
              ClockOffsetText(*host.clock) + " from this machine's\n";
    }
    if (!host.version.empty() && host.version != report.version) {
      text += "warning: the agent on host " + host.host + " is of version " +
              OneLine(host.version) + ", hvdrun of " + report.version + '\n';
    }
  }
  return text;
}

// Most say by themselves of which host they are.
std::string ReasonText(const CheckedHost& host) {
  const std::string& message = host.error->message();
  const std::string prefix = "host " + host.host + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

std::string UnusableHosts(const HostsReport& report) {
  std::string text;
  for (const CheckedHost& host : report.hosts) {
    if (host.usable()) continue;
    text += "cannot be used: " + host.host + ": " + ReasonText(host) + '\n';
    if (!host.error->hint().empty()) {
      text += "  hint: " + host.error->hint() + '\n';
    }
  }
  return text;
}

}  // namespace

std::optional<double> RateOf(const LinkResult& result) {
  if (!result.ok() || result.load_time.count() <= 0) return std::nullopt;
  constexpr double kBitsPerByte = 8;
  const std::chrono::duration<double> seconds = result.load_time;
  return static_cast<double>(result.load_bytes) * kBitsPerByte /
         seconds.count();
}

SlowLinks HostsReport::slow_links() const {
  std::vector<std::optional<double>> rates;
  for (const CheckedLink& link : links) rates.push_back(RateOf(link.result));
  return FindSlowLinks(rates);
}

std::string HostsReportText(const HostsReport& report) {
  std::string out;
  AddHosts(report, out);
  out += ReachReportText(report.hosts, report.probes);
  AddLinks(report, out);
  std::string findings =
      SlowText(report) + WarningsText(report) + UnusableHosts(report);
  if (UnusableText(report.hosts).empty()) {
    findings += report.hosts.size() == 1 ? "the host can be used\n"
                                         : "all hosts can be used\n";
  }
  return out + '\n' + findings;
}

std::string UnusableText(const std::vector<CheckedHost>& hosts) {
  std::vector<std::size_t> bad;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!hosts[i].usable()) bad.push_back(i);
  }
  if (bad.empty()) return "";
  if (bad.size() == 1) return "host " + hosts[bad[0]].host + " cannot be used";
  return std::to_string(bad.size()) + " of " + Count(hosts.size(), "host") +
         " cannot be used: " + Names(hosts, bad);
}

}  // namespace hvd
