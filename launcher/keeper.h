// Keeper: spawns the workers of this machine, reaps them, and leaves none.
//
// The body of the program hvdrun-keeper. It is a child subreaper in a session
// of its own, so that everything a worker starts, however often it forks or
// calls setsid, ends up below it. Its socket is the command channel and the
// lifeline: at end-of-file hvdrun is gone, and all descendants get TERM, the
// grace, then STOP and KILL until none is left.
//
// It decides nothing about the job and moves no output. One thread, no Asio.
#pragma once

#include "base/unique_fd.h"

namespace hvd {

// Runs until `socket` ended and nothing is left. The program's exit code.
int RunKeeper(UniqueFd socket);

}  // namespace hvd
