// Selection: from which size on which algorithm is used.
//
// Pure. One table for all ranks of a world: its hash goes with every call, so
// that ranks with different tables learn it instead of waiting for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace hvd {

// Bytes. The figures were measured on 2 cores with 1 MiB of second-level cache
// each; docs/collectives.md says how to find others.
struct Selection {
  // Within a host, an allreduce or broadcast up to this much from each rank:
  // all write, all read, all reduce.
  std::size_t one_shot = std::size_t{4} << 10U;
  // Larger: what one rank has in the shared memory at once.
  std::size_t chunk = std::size_t{512} << 10U;
  // What is reduced between two looks into the caches' second level.
  std::size_t block = std::size_t{16} << 10U;
  // From here on stores go past the caches where the data will not be read
  // soon.
  std::size_t stream = std::size_t{8} << 20U;
  // Between hosts, up to this much: recursive doubling of whole arrays.
  std::size_t doubling = std::size_t{32} << 10U;
  // Between hosts, larger: what one host has under way at once.
  std::size_t slab = std::size_t{16} << 20U;

  bool operator==(const Selection&) const = default;
};

// `text`: "one_shot=8K,chunk=1M", over the table above. kInvalidArgument says
// which word is wrong and what may stand there.
Result<Selection> ParseSelection(std::string_view text);
// Never 0.
std::uint32_t HashOf(const Selection& table);

}  // namespace hvd
