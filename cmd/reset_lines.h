// ResetLines: what the report on stderr says of the resets of an elastic job.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "driver/outcome.h"

namespace hvd {

// "2 resets:" and a line for each, of a long job for the last ones only: when,
// from which size to which, how long by phase, why. Nothing if there was none.
std::vector<std::string> ResetLines(const std::vector<Reset>& resets);

}  // namespace hvd
