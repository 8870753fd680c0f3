// StreamCopy: copies past the caches, for what will not be read again soon.
//
// Pure. What it wrote is seen by others only after StreamFence.
#pragma once

#include <cstddef>

namespace hvd {

void StreamCopy(void* to, const void* from, std::size_t bytes);
void StreamFence();

}  // namespace hvd
