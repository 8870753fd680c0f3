#include <algorithm>

#include "collectives/chunk_parts.h"
#include "collectives/chunk_stream.h"
#include "collectives/copy_bytes.h"
#include "collectives/local_calls.h"
#include "collectives/stream_copy.h"

namespace hvd {
namespace {

// Reduces in blocks that stay in the second-level cache, each published while
// it is there. One stream of stores at a time: two of them, one into lines that
// another core has read, are several times slower.
void CombineAndPublish(LocalGroup& group, const Selection& table,
                       const Reduction& what, std::byte* published) {
  const std::size_t element = SizeOf(what.type);
  const std::size_t block = std::max(table.block / element, kLine);
  std::vector<const void*> arrays = group.arrays();
  for (std::size_t at = 0; at < what.count; at += block) {
    const std::size_t count = std::min(block, what.count - at);
    Reduce(KernelForm::kPlain, At(what.out, at * element), arrays, count,
           what.type, what.op, what.divisor);
    CopyBytes(published + at * element, At(what.out, at * element),
              count * element);
    for (const void*& array : arrays) array = At(array, count * element);
  }
}

Status AllReduceStaged(LocalGroup& group, const Selection& table,
                       const Reduction& what, Entries entries) {
  const std::size_t element = SizeOf(what.type);
  const std::size_t per_part = PerPart(group, element, group.size());
  const std::size_t per_chunk = per_part * Index(group.size());
  const std::size_t part_bytes = per_part * element;
  const std::uint64_t first = group.chunks();
  const bool past_caches =
      what.count * element * Index(group.size()) >= table.stream &&
      what.in != what.out;
  // Where the slice of `owner` in chunk k lies in the arrays.
  const auto slice = [&](std::uint64_t k, int owner) {
    const Slice chunk = Piece(what.count, per_chunk, k);
    const Slice part = SliceOf(chunk.count, element, group.size(), owner);
    return Slice{chunk.begin + part.begin, part.count};
  };
  return StreamChunks(
      group, ChunksOf(what.count, per_chunk), entries,
      [&](std::uint64_t k) {
        for (int owner = 0; owner < group.size(); ++owner) {
          if (owner == group.local()) continue;
          const Slice part = slice(k, owner);
          CopyBytes(Part(group, group.local(), first + k, owner, part_bytes),
                    At(what.in, part.begin * element), part.count * element);
        }
      },
      [&](std::uint64_t k) {
        const Slice part = slice(k, group.local());
        const std::size_t at = part.begin * element;
        PointAtParts(group, first + k, At(what.in, at), part_bytes);
        CombineAndPublish(
            group, table,
            {nullptr, At(what.out, at), part.count, what.type, what.op,
             what.divisor},
            Part(group, group.local(), first + k, group.local(), part_bytes));
      },
      [&](std::uint64_t k) {
        for (int owner = 0; owner < group.size(); ++owner) {
          if (owner == group.local()) continue;
          const Slice part = slice(k, owner);
          const std::byte* const from =
              Part(group, owner, first + k, owner, part_bytes);
          std::byte* const to = At(what.out, part.begin * element);
          if (past_caches) {
            StreamCopy(to, from, part.count * element);
          } else {
            CopyBytes(to, from, part.count * element);
          }
        }
        if (past_caches) StreamFence();
      });
}

// Every rank's arrays can be reached: the owner of a slice combines it and
// writes it to all.
Status AllReduceDirect(LocalGroup& group, const Selection& table,
                       const Reduction& what) {
  const std::size_t element = SizeOf(what.type);
  const std::size_t size = Index(group.size());
  const Slice mine = SliceOf(what.count, element, group.size(), group.local());
  const bool past_caches = what.count * element * size >= table.stream;
  const std::size_t block = std::max(table.block / element, kLine);
  std::vector<std::byte>& scratch = group.scratch();
  if (past_caches) scratch.resize(block * element);
  for (std::size_t done = 0; done < mine.count; done += block) {
    const std::size_t count = std::min(block, mine.count - done);
    const std::size_t at = (mine.begin + done) * element;
    for (int local = 0; local < group.size(); ++local) {
      group.arrays()[Index(local)] = group.InputOf(local) + at;
    }
    std::byte* const result = past_caches ? scratch.data() : At(what.out, at);
    Reduce(KernelForm::kPlain, result, group.arrays(), count, what.type,
           what.op, what.divisor);
    for (int local = 0; local < group.size(); ++local) {
      std::byte* const to = group.OutputOf(local) + at;
      if (past_caches) {
        StreamCopy(to, result, count * element);
      } else if (local != group.local()) {
        CopyBytes(to, result, count * element);
      }
    }
  }
  if (past_caches) StreamFence();
  const std::uint64_t now = group.chunks() + 1;
  group.AddChunks(1);
  group.Set(&Member::copied, now);
  group.Set(&Member::taken, now);
  group.Set(&Member::combined, now);
  return group.AwaitMarks(&Member::combined, now);
}

}  // namespace

Status LocalAllReduce(LocalGroup& group, const Selection& table,
                      const Reduction& what) {
  const std::size_t bytes = what.count * SizeOf(what.type);
  group.EnterWithArrays(what.in, what.out, bytes, bytes);
  if (!group.OwnInHeap()) {
    return AllReduceStaged(group, table, what, Entries::kToBeAwaited);
  }
  if (Status s = group.AwaitEntries(); !s.ok()) return s;
  if (group.AllInHeaps(bytes)) return AllReduceDirect(group, table, what);
  return AllReduceStaged(group, table, what, Entries::kAwaited);
}

}  // namespace hvd
