// Check hosts: what `hvdrun --check-hosts` does.
#pragma once

#include <signal.h>

#include "base/process.h"
#include "cmd/settings.h"

namespace hvd {

// Takes the hosts as a job would, measures, prints a report on stdout and ends
// every agent. The exit code: 0 if all hosts can be used, else that of a job
// that would not have begun. `handled`: what BlockHandledSignals gave back.
int CheckHosts(const Settings& settings, const EnvList& env,
               const sigset_t& handled);

}  // namespace hvd
