// ReadPacer: when the reader of a pipe should let it fill before it reads on.
//
// A worker that writes line by line would wake hvdrun for each line; two small
// reads in a row within kRest are a sign of that. What comes seldom, or in
// large parts, is read at once.
//
// Pure.
#pragma once

#include <cstddef>
#include <utility>

#include "base/clock.h"

namespace hvd {

class ReadPacer {
 public:
  static constexpr Duration kRest{1};  // how long to let it fill
  static constexpr std::size_t kSmall = 16U << 10U;

  // `size` bytes were read at `now`: rest?
  bool RestAfter(std::size_t size, Instant now) {
    const bool again = now - std::exchange(last_, now) < kRest;
    return again && size < kSmall;
  }

 private:
  Instant last_{};
};

}  // namespace hvd
