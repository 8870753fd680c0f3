#include <algorithm>

#include "collectives/chunk_parts.h"
#include "collectives/chunk_stream.h"
#include "collectives/copy_bytes.h"
#include "collectives/local_calls.h"

namespace hvd {

Status LocalAllGather(LocalGroup& group, const Selection& table, const void* in,
                      void* out, const Shares& shares, std::size_t element) {
  const std::size_t own = shares.Count(group.local()) * element;
  std::byte* const place = At(out, shares.Begin(group.local()) * element);
  const std::size_t longest = shares.Longest() * element;
  if (longest <= table.one_shot) {
    EnterWithSlot(group, in, own);
    if (own > 0 && place != in) MoveBytes(place, in, own);
    if (Status s = group.AwaitEntries(); !s.ok()) return s;
    for (int from = 0; from < group.size(); ++from) {
      const std::size_t bytes = shares.Count(from) * element;
      if (from == group.local() || bytes == 0) continue;
      CopyBytes(At(out, shares.Begin(from) * element),
                SlotOf(group, from, bytes), bytes);
    }
    return Done{};
  }
  group.EnterWithSmall(nullptr, 0);
  if (own > 0 && place != in) MoveBytes(place, in, own);
  const std::uint64_t first = group.chunks();
  const std::size_t chunk = group.segment().chunk();
  return StreamChunks(
      group, ChunksOf(longest, chunk), Entries::kToBeAwaited,
      [&](std::uint64_t k) {
        const Slice piece = Piece(own, chunk, k);
        CopyBytes(group.segment().place(group.local(), first + k),
                  place + piece.begin, piece.count);
      },
      [&](std::uint64_t k) {
        for (int from = 0; from < group.size(); ++from) {
          if (from == group.local()) continue;
          const Slice piece = Piece(shares.Count(from) * element, chunk, k);
          CopyBytes(At(out, shares.Begin(from) * element + piece.begin),
                    group.segment().place(from, first + k), piece.count);
        }
      },
      kTakeNothing);
}

Status LocalAllToAll(LocalGroup& group, const void* in, void* out,
                     std::span<const std::size_t> matrix, std::size_t element) {
  const int size = group.size();
  const int me = group.local();
  const Shares sent(matrix.subspan(Index(me) * Index(size), Index(size)));
  std::vector<std::size_t> column;
  for (int from = 0; from < size; ++from) {
    column.push_back(matrix[Index(from) * Index(size) + Index(me)]);
  }
  const Shares received(column);
  if (sent.Count(me) > 0) {
    MoveBytes(At(out, received.Begin(me) * element),
              At(in, sent.Begin(me) * element), sent.Count(me) * element);
  }
  const std::size_t part = PerPart(group, 1, size);
  const std::uint64_t first = group.chunks();
  const std::size_t longest = *std::max_element(matrix.begin(), matrix.end());
  return StreamChunks(
      group, ChunksOf(longest * element, part), Entries::kAwaited,
      [&](std::uint64_t k) {
        for (int to = 0; to < size; ++to) {
          if (to == me) continue;
          const Slice piece = Piece(sent.Count(to) * element, part, k);
          CopyBytes(Part(group, me, first + k, to, part),
                    At(in, sent.Begin(to) * element + piece.begin),
                    piece.count);
        }
      },
      [&](std::uint64_t k) {
        for (int from = 0; from < size; ++from) {
          if (from == me) continue;
          const Slice piece = Piece(received.Count(from) * element, part, k);
          CopyBytes(At(out, received.Begin(from) * element + piece.begin),
                    Part(group, from, first + k, me, part), piece.count);
        }
      },
      kTakeNothing);
}

Status LocalBroadcast(LocalGroup& group, const Selection& table, void* data,
                      std::size_t bytes, int root) {
  const bool is_root = group.local() == root;
  if (bytes <= table.one_shot) {
    EnterWithSlot(group, data, is_root ? bytes : 0);
    if (Status s = group.AwaitEntries(); !s.ok()) return s;
    if (!is_root && bytes > 0) {
      CopyBytes(data, SlotOf(group, root, bytes), bytes);
    }
    return Done{};
  }
  group.EnterWithSmall(nullptr, 0);
  const std::uint64_t first = group.chunks();
  const std::size_t chunk = group.segment().chunk();
  const auto place = [&](std::uint64_t k) {
    return group.segment().place(root, first + k);
  };
  return StreamChunks(
      group, ChunksOf(bytes, chunk), Entries::kToBeAwaited,
      [&](std::uint64_t k) {
        const Slice piece = Piece(bytes, chunk, k);
        if (is_root) CopyBytes(place(k), At(data, piece.begin), piece.count);
      },
      [&](std::uint64_t k) {
        const Slice piece = Piece(bytes, chunk, k);
        if (!is_root) CopyBytes(At(data, piece.begin), place(k), piece.count);
      },
      kTakeNothing);
}

}  // namespace hvd
