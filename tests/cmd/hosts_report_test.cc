#include "cmd/hosts_report.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/cmd/golden.h"

namespace hvd {
namespace {

using std::chrono::microseconds;

CheckedHost Host(int number) {
  const std::string name(1, static_cast<char>('a' + number));
  CheckedHost host{.host = name,
                   .slots = 2,
                   .is_local = number == 0,
                   .identity = "machine " + name,
                   .name = name,
                   .system = "Linux 6.1.0 x86_64",
                   .place = {"eth0", "10.0.0." + std::to_string(number + 1)}};
  if (number > 0) {
    host.version = "1.2.3";
    host.clock = {microseconds{10 * number}, microseconds{120}};
  }
  return host;
}

// All well, on a ring of 10 Gbit/s.
HostsReport Report(int hosts) {
  HostsReport report{"1.2.3", {}, {}, {}};
  for (int i = 0; i < hosts; ++i) report.hosts.push_back(Host(i));
  for (const CheckedHost& from : report.hosts) {
    for (const CheckedHost& to : report.hosts) {
      if (from.host == to.host) continue;
      ProbeResult proved;
      proved.kind = ProbeResult::Kind::kProved;
      report.probes.push_back(
          {{from.host, to.host, {to.place.address, 4000, to.identity}},
           proved});
    }
  }
  const auto size = static_cast<std::size_t>(hosts);
  for (std::size_t i = 0; i < size; ++i) {
    report.links.push_back({i,
                            (i + 1) % size,
                            {.least_round_trip = microseconds{41},
                             .median_round_trip = microseconds{1052},
                             .load_bytes = 62'500'000,
                             .load_time = microseconds{50'000}}});
  }
  return report;
}

ProbeResult& Probe(HostsReport& report, const std::string& from,
                   const std::string& to) {
  for (CheckedProbe& probe : report.probes) {
    if (probe.probe.from == from && probe.probe.to == to) return probe.result;
  }
  throw std::logic_error("no such probe");
}

ProbeResult Unreached(const std::string& why) {
  ProbeResult result;
  result.failure = why;
  return result;
}

bool Says(const HostsReport& report, const std::string& text) {
  const std::string all = HostsReportText(report);
  UNSCOPED_INFO(all);
  return all.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("a report of good hosts says that all can be used", "[cmd]") {
  const std::string text = HostsReportText(Report(3));
  CHECK(text == testing::Golden("hosts_good.txt", text));
}

TEST_CASE("a report of bad hosts says which and why", "[cmd]") {
  HostsReport report = Report(5);
  Probe(report, "b", "c") = Unreached("No route to host");
  Probe(report, "d", "c") = Unreached("timed out after 2 s");
  report.hosts[2].error =
      Error(ErrorCode::kUnavailable,
            "interface proof: host b cannot reach host c at 10.0.0.3: No route "
            "to host")
          .WithHint("a firewall");
  report.hosts[4] = {.host = "e", .slots = 1};
  report.hosts[4].error =
      Error(ErrorCode::kUnavailable,
            "host e: connect: Connection refused (3 tries in 30 s)");
  std::erase_if(report.probes, [](const CheckedProbe& probe) {
    return probe.probe.from == "e" || probe.probe.to == "e";
  });
  report.hosts[1].clock = {microseconds{-3'200'000}, microseconds{120}};
  report.hosts[3].version = "1.2.2";
  report.hosts[3].clock.reset();
  report.links.resize(3);
  report.links[1].to = 3;
  report.links[2] = {3, 0, {.failure = "Connection refused"}};
  const std::string text = HostsReportText(report);
  CHECK(text == testing::Golden("hosts_bad.txt", text));
}

TEST_CASE("a report names the slow machine of a ring", "[cmd]") {
  HostsReport report = Report(4);
  report.links[1].result.load_bytes = 6'250;
  report.links[2].result.load_bytes = 12'500;
  CHECK(Says(report,
             "\nslow: host c, 1.00 Mbit/s from b and 2.00 Mbit/s to d; 10.0 "
             "Gbit/s is usual here\nall hosts can be used\n"));
}

TEST_CASE("a report names a slow link where no machine is to blame", "[cmd]") {
  HostsReport report = Report(2);
  report.links[1].result.load_bytes = 0;
  CHECK(Says(report,
             "\nslow: from b to a, 0.00 bit/s; 10.0 Gbit/s is usual here\n"));
  report.links[0].result.load_bytes = 0;
  CHECK_FALSE(Says(report, "slow"));
}

TEST_CASE("two names of one machine are shown as such", "[cmd]") {
  HostsReport report = Report(3);
  report.hosts[2].identity = report.hosts[1].identity;
  std::erase_if(report.probes, [](const CheckedProbe& probe) {
    return probe.probe.from + probe.probe.to == "bc" ||
           probe.probe.from + probe.probe.to == "cb";
  });
  CHECK(Says(report, "  2  b     +  -  =\n"));
}

TEST_CASE("an address that another host has is told as the wrong one",
          "[cmd]") {
  HostsReport report = Report(2);
  ProbeResult& wrong = Probe(report, "a", "b");
  wrong.kind = ProbeResult::Kind::kOtherHost;
  wrong.answered_as = report.hosts[0].identity;
  CHECK(Says(report, "  a     b   10.0.0.2  answered as host a\n"));
  CHECK(Says(report, "  1  a     -  x\n"));
}

TEST_CASE("a host is reached where it was chosen to be, not elsewhere",
          "[cmd]") {
  HostsReport report = Report(2);
  report.probes[0].probe.target.address = "10.9.9.9";
  CHECK(Says(report, "  1  a     -  x\n"));
  report.hosts[1].error = Error(ErrorCode::kUnavailable, "gone");
  CHECK(Says(report, "  1  a     -  +\n"));
}

TEST_CASE("of many hosts only what fails is shown, and how much does",
          "[cmd]") {
  HostsReport report = Report(17);
  CHECK(Says(report, "\nwho reaches whom: 272 of 272 pairs that were tried\n"));
  CHECK_FALSE(Says(report, "outcome"));
  Probe(report, "c", "d") = Unreached("No route to host");
  CHECK(Says(report,
             "\nwho reaches whom: 271 of 272 pairs that were tried\n"
             "  from  to  address   outcome\n"
             "  c     d   10.0.0.4  No route to host\n"));
}

TEST_CASE("what another host says of itself cannot write to the terminal",
          "[cmd]") {
  HostsReport report = Report(2);
  report.hosts[1].name = "b\x1b[2J\n";
  report.hosts[1].version = "9\r";
  report.links[0].result = {.failure = "no\n"};
  const std::string text = HostsReportText(report);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
  CHECK(text.find("no\n\n") == std::string::npos);
}

TEST_CASE("hosts that cannot be used are named in one line", "[cmd]") {
  std::vector<CheckedHost> hosts = Report(12).hosts;
  CHECK(UnusableText(hosts).empty());
  hosts[2].error = Error(ErrorCode::kTimeout, "late");
  CHECK(UnusableText(hosts) == "host c cannot be used");
  hosts[3].error = hosts[2].error;
  CHECK(UnusableText(hosts) == "2 of 12 hosts cannot be used: c, d");
  for (CheckedHost& host : hosts) host.error = Error(ErrorCode::kTimeout, "x");
  CHECK(UnusableText(hosts) ==
        "12 of 12 hosts cannot be used: a, b, c, d, e, f, g, h, i, j and 2 "
        "more");
}

}  // namespace hvd
