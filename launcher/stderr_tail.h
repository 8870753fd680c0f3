// StderrTail: the last lines of a stream of bytes, in bounded memory.
//
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hvd {

class StderrTail {
 public:
  static constexpr std::size_t kMaxBytes = 8U << 10U;
  static constexpr std::size_t kMaxLines = 20;

  void Append(std::string_view bytes);
  // Oldest first, without their ends. A "\r" inside a line starts it again, as
  // on a terminal.
  std::vector<std::string> Lines() const;

 private:
  std::string bytes_;
};

}  // namespace hvd
