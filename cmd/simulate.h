// Simulate: what the driver would decide in a job of these settings, on hosts
// that are simulated; starts nothing and waits for nothing.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "cmd/settings.h"

namespace hvd {

// Prints the decisions, how long they took by `stopwatch`, and how the job
// ends; returns the exit code that the job would have. `print` gets whole
// lines.
int Simulate(const Settings& settings, const Clock& stopwatch,
             const std::function<void(const std::string& lines)>& print);

}  // namespace hvd
