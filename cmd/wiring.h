// Wiring: from what the user asked for to a job that runs.
//
// Turns Settings into each folder's own options and is the only file that names
// concrete classes of several folders. What it does itself is the order: all
// that can be refused is refused before anything is started.
#pragma once

#include <signal.h>

#include "base/process.h"
#include "cmd/settings.h"

namespace hvd {

// Runs the job (or prints its dry run) and returns hvdrun's exit code.
// `user_env` is hvdrun's own environment; `handled` are the signals that
// BlockHandledSignals() blocked. Blocks until the end; takes over the calling
// thread and the descriptors 0, 1 and 2 meanwhile.
int RunHvdrun(const Settings& settings, const EnvList& user_env,
              const sigset_t& handled);

}  // namespace hvd
