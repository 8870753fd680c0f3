// Hosts report: what --check-hosts has found out, and how it says so.
//
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cmd/clock_offset.h"
#include "discovery/interface_choice.h"
#include "discovery/interface_proof.h"
#include "discovery/link_meter.h"
#include "discovery/probe_dialer.h"
#include "discovery/slow_links.h"

namespace hvd {

struct CheckedHost {
  std::string host;  // as the user wrote it
  int slots = 0;
  bool is_local = false;
  std::string identity = {};  // of the machine; empty: not heard of
  std::string name = {};      // as it calls itself
  std::string system = {};
  std::string version = {};         // of its agent; empty: it has none
  HostPlace place = {};             // where it is reached by all
  std::optional<Error> error = {};  // why it can't be used
  std::optional<ClockOffset> clock = {};

  bool usable() const { return !error.has_value(); }
};

struct CheckedProbe {
  HostProbe probe;
  ProbeResult result;
};

// From a machine to the next in the ring, by places in HostsReport::hosts.
struct CheckedLink {
  std::size_t from = 0;
  std::size_t to = 0;
  LinkResult result;
};

// Bits a second that arrived; nullopt: the link could not be measured.
std::optional<double> RateOf(const LinkResult& result);

struct HostsReport {
  std::string version;  // hvdrun's own
  std::vector<CheckedHost> hosts;
  std::vector<CheckedProbe> probes;
  std::vector<CheckedLink> links;  // around the ring

  SlowLinks slow_links() const;
};

// Up to so many hosts are shown as a matrix of who reaches whom.
inline constexpr std::size_t kMaxMatrix = 16;

// Lines, with an end each.
std::string HostsReportText(const HostsReport& report);

// "host c cannot be used", "3 of 40 hosts cannot be used: b, c, d"; empty: all
// can.
std::string UnusableText(const std::vector<CheckedHost>& hosts);

}  // namespace hvd
