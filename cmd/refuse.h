// Refuse: says why no job was begun, and what to do about it.
#pragma once

#include "base/result.h"

namespace hvd {

// Prints "hvdrun: error: ...", the hint if there is one, and the exit code's
// line; returns that code. For before a job: during one the output mux is the
// only one to write.
int Refuse(const Error& error);

}  // namespace hvd
