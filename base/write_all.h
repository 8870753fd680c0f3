// WriteAll: all of some bytes to a descriptor that blocks.
#pragma once

#include <string_view>

#include "base/result.h"

namespace hvd {

// Some may have been written when it fails.
Status WriteAll(int fd, std::string_view bytes);

}  // namespace hvd
