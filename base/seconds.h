// Seconds: durations as people write and read them on a command line.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace hvd {

// "30", "0.5", "2.25": seconds, decimals down to a millisecond. The error says
// what was expected, not what for: callers Wrap it. At most a hundred years,
// so that adding it to an Instant cannot overflow.
Result<Duration> ParseSeconds(std::string_view text);

// "30 s", "0.5 s"; never an exponent, no trailing zeros.
std::string SecondsText(Duration duration);

}  // namespace hvd
