// ExecLimits: what the kernel will let a worker be started with.
//
// Pure. Checked before anything starts, so that a variable that is too long is
// named instead of failing every rank with "Argument list too long".
// Source: Linux fs/exec.c (MAX_ARG_STRLEN, bprm_set_stack_limit), execve(2).
#pragma once

#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace hvd {

// kInvalidArgument names the word or variable that is too long, or the largest
// one when it is all of them together.
Status CheckExecLimits(const std::vector<std::string>& argv,
                       const EnvList& env);

}  // namespace hvd
