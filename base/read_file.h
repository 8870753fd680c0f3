// ReadWholeFile: a file's bytes, or why they can't be had.
#pragma once

#include <string>

#include "base/result.h"

namespace hvd {

// For files that people write: at most 16 MiB, kInvalidArgument beyond. Other
// errors name the file too: "hosts.txt: No such file or directory".
Result<std::string> ReadWholeFile(const std::string& path);

}  // namespace hvd
