// The second half of the flag table: limits in time, what is reported, and what
// is done instead of a job. Private to flag_table.cc.
#pragma once

#include <span>

#include "cmd/flag_table.h"

namespace hvd {

std::span<const Flag> FlagsOfTimeAndReporting();

}  // namespace hvd
