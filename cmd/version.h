// Version: of this build, from the build system.
#pragma once

#include <string_view>

namespace hvd {

std::string_view Version();  // "0.1.0"

}  // namespace hvd
