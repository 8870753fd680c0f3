// LoginVariables: the part of an environment that says who is logged in where.
//
// A worker on another host gets hvdrun's environment, but the home directory,
// session and sockets of a login there are those of the login there. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/process.h"

namespace hvd {

bool IsLoginVariable(std::string_view name);

// `env` without them, but for those named in `kept`.
EnvList WithoutLoginVariables(EnvList env,
                              const std::vector<std::string>& kept);

// `env`, and those of `own` that it has not.
EnvList WithLoginVariables(EnvList env, const EnvList& own);

}  // namespace hvd
