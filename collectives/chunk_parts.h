// Chunk parts: which elements of an array are where in the places of a chunk.
//
// Pure, but for PointAtParts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collectives/local_calls.h"
#include "collectives/local_group.h"

namespace hvd {

inline std::byte* At(void* data, std::size_t bytes) {
  return static_cast<std::byte*>(data) + bytes;
}
inline const std::byte* At(const void* data, std::size_t bytes) {
  return static_cast<const std::byte*>(data) + bytes;
}

inline std::size_t Index(int i) { return static_cast<std::size_t>(i); }

inline std::uint64_t ChunksOf(std::size_t count, std::size_t per_chunk) {
  return (count + per_chunk - 1) / per_chunk;
}

// The part of [0, count) that chunk `number` of `per_chunk` covers.
inline Slice Piece(std::size_t count, std::size_t per_chunk,
                   std::uint64_t number) {
  const std::size_t begin = std::min<std::size_t>(per_chunk * number, count);
  return {begin, std::min(per_chunk, count - begin)};
}

// Elements that fit into one of `parts` of a place, to a whole line.
inline std::size_t PerPart(const LocalGroup& group, std::size_t element,
                           int parts) {
  const std::size_t line = kLine / element;
  const std::size_t fit = group.segment().chunk() / element / Index(parts);
  return std::max<std::size_t>(fit / line, 1) * line;
}

// Part `part` of a place whose parts hold `per_part` elements.
inline std::byte* Part(const LocalGroup& group, int local, std::uint64_t chunk,
                       int part, std::size_t part_bytes) {
  return group.segment().place(local, chunk) + Index(part) * part_bytes;
}

// Everybody's array at this rank's part: its own, and what the others copied.
inline void PointAtParts(LocalGroup& group, std::uint64_t chunk,
                         const void* own, std::size_t part_bytes) {
  for (int local = 0; local < group.size(); ++local) {
    group.arrays()[Index(local)] =
        local == group.local()
            ? own
            : Part(group, local, chunk, group.local(), part_bytes);
  }
}

}  // namespace hvd
