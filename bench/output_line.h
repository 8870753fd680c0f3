// OutputLine: the lines that the output bench's workers write and its reader
// checks: 100 bytes, with worker, number, filler and checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hvd::bench {

inline constexpr std::size_t kLineSize = 100;  // with its newline

// Writes line `number` of `worker` to `out`, which has room for kLineSize.
void WriteLine(char* out, int worker, std::uint32_t number);

struct ParsedLine {
  bool valid = false;
  int worker = 0;
  std::uint32_t number = 0;
};
// `line`: kLineSize - 1 bytes, without the newline.
ParsedLine ParseLine(std::string_view line);

}  // namespace hvd::bench
