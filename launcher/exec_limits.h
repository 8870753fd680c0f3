// ExecLimits: whether the kernel would take these words and this environment,
// and with how much stack.
//
// Pure arithmetic. Source: execve(2), "Limits on size of arguments and
// environment", and the kernel's fs/exec.c (bprm_stack_limits): a quarter of
// the soft stack limit, at least 128 KiB, at most 6 MiB, pointers included; one
// string at most 128 KiB (MAX_ARG_STRLEN).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace hvd {

// The soft stack limit, in bytes, that an exec with these needs.
// kInvalidArgument names the word or the variable that no limit can make room
// for; a secret value is never in the text.
Result<std::size_t> StackLimitFor(const std::string& program,
                                  const std::vector<std::string>& argv,
                                  const EnvList& env);

}  // namespace hvd
