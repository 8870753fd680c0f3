// Scenario: a text file of events and of the actions they must bring about.
//
// One event a line, "t=<seconds> <event>", the actions indented below it, all
// in the form of driver/explain.h; comments first, then "options ...". Between
// the events the driver gets the ticks it asks for; those that change
// something appear as events of their own. "t=9 wake" is a tick before which
// the program did not run at all.
#pragma once

#include <string>

#include "base/result.h"

namespace hvd::testing {

// The scenario as it really unfolds: equal to `text` if all is well.
// kInvalidArgument names the line that cannot be read.
Result<std::string> Replay(const std::string& text);

}  // namespace hvd::testing
