// CopyBytes and MoveBytes: memcpy and memmove that may be given nothing, at no
// address: an empty part of an array is where nothing was ever allocated.
#pragma once

#include <cstddef>
#include <cstring>

namespace hvd {

inline void CopyBytes(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

// They may overlap.
inline void MoveBytes(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memmove(to, from, bytes);
}

}  // namespace hvd
