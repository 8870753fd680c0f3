// Tensor: one of many arrays that are reduced together.
#pragma once

#include <cstddef>

namespace hvd {

struct Tensor {
  const void* in = nullptr;
  void* out = nullptr;  // may be `in`
  std::size_t count = 0;
};

}  // namespace hvd
