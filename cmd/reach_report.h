// Reach report: who reaches whom, for --check-hosts to print.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "cmd/hosts_report.h"

namespace hvd {

// A matrix for up to kMaxMatrix hosts, a count for more; then what failed of
// those pairs that don't reach each other. Empty if nothing was tried.
std::string ReachReportText(const std::vector<CheckedHost>& hosts,
                            const std::vector<CheckedProbe>& probes);

}  // namespace hvd
