// Explain: events and actions as text, one line each.
//
// The one text form: --explain prints it and scenario files contain it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "driver/events.h"

namespace hvd {

// "exit": the first word of an event's text.
std::string_view EventWord(const Event& event);
// "exit launch=3 code=1"
std::string ToText(const Event& event);
// "start launch=3 a/2 rank=2"
std::string ToText(const Action& action);

// "worker-failed"
std::string ToText(Verdict verdict);

// "t=1.5"
std::string TimeText(Duration since);

// "t=1.5 exit launch=3 code=1" and the actions, each on a line below,
// indented, no newline at the end; empty for a Tick that changed nothing.
// `since`: the job's start.
std::string Explain(Duration since, const Event& event,
                    const std::vector<Action>& actions);

}  // namespace hvd
