// OutputStream: which of a worker's two streams some bytes came from.
#pragma once

#include <string_view>

namespace hvd {

enum class OutputStream { kStdout, kStderr };

constexpr std::string_view Name(OutputStream stream) {
  return stream == OutputStream::kStdout ? "stdout" : "stderr";
}

}  // namespace hvd
