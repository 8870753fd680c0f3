// CarriedKeeper: the keeper program, carried inside this one.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

// A file in memory that holds the keeper; no disk has a copy.
Result<UniqueFd> OpenCarriedKeeper();
// Where a child of this process finds it, as long as `fd` is open.
std::string PathOfCarriedKeeper(const UniqueFd& fd);

}  // namespace hvd
