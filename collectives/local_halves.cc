#include <algorithm>

#include "collectives/chunk_parts.h"
#include "collectives/chunk_stream.h"
#include "collectives/copy_bytes.h"
#include "collectives/local_calls.h"

namespace hvd {

Slice SliceOf(std::size_t count, std::size_t element, int owners, int index) {
  const std::size_t line = kLine / element;
  const std::size_t share = (count + Index(owners) - 1) / Index(owners);
  const std::size_t rounded = (share + line - 1) / line * line;
  const std::size_t begin = std::min(rounded * Index(index), count);
  return {begin, std::min(rounded, count - begin)};
}

Status LocalReduceScatter(LocalGroup& group, const Reduction& what) {
  group.EnterWithSmall(nullptr, 0);
  const std::size_t element = SizeOf(what.type);
  const std::size_t per_part = PerPart(group, element, group.size());
  const std::size_t part_bytes = per_part * element;
  const std::uint64_t first = group.chunks();
  return StreamChunks(
      group, ChunksOf(what.count, per_part), Entries::kToBeAwaited,
      [&](std::uint64_t k) {
        const Slice piece = Piece(what.count, per_part, k);
        for (int to = 0; to < group.size(); ++to) {
          if (to == group.local()) continue;
          CopyBytes(
              Part(group, group.local(), first + k, to, part_bytes),
              At(what.in, (Index(to) * what.count + piece.begin) * element),
              piece.count * element);
        }
      },
      [&](std::uint64_t k) {
        const Slice piece = Piece(what.count, per_part, k);
        const std::size_t own =
            (Index(group.local()) * what.count + piece.begin) * element;
        PointAtParts(group, first + k, At(what.in, own), part_bytes);
        Reduce(KernelForm::kPlain, At(what.out, piece.begin * element),
               group.arrays(), piece.count, what.type, what.op, what.divisor);
      },
      kTakeNothing);
}

Status LocalReduceToOwners(LocalGroup& group, const Reduction& what,
                           void* partial, int owners) {
  const std::size_t element = SizeOf(what.type);
  const std::size_t wide = OutputSize(KernelForm::kWiden, what.type);
  const std::size_t per_part = PerPart(group, element, owners);
  const std::size_t part_bytes = per_part * element;
  const std::uint64_t first = group.chunks();
  const std::size_t longest = SliceOf(what.count, element, owners, 0).count;
  return StreamChunks(
      group, ChunksOf(longest, per_part), Entries::kAwaited,
      [&](std::uint64_t k) {
        for (int owner = 0; owner < owners; ++owner) {
          if (owner == group.local()) continue;
          const Slice slice = SliceOf(what.count, element, owners, owner);
          const Slice piece = Piece(slice.count, per_part, k);
          CopyBytes(Part(group, group.local(), first + k, owner, part_bytes),
                    At(what.in, (slice.begin + piece.begin) * element),
                    piece.count * element);
        }
      },
      [&](std::uint64_t k) {
        if (group.local() >= owners) return;
        const Slice slice = SliceOf(what.count, element, owners, group.local());
        const Slice piece = Piece(slice.count, per_part, k);
        PointAtParts(group, first + k,
                     At(what.in, (slice.begin + piece.begin) * element),
                     part_bytes);
        Reduce(KernelForm::kWiden, At(partial, piece.begin * wide),
               group.arrays(), piece.count, what.type, what.op);
      },
      kTakeNothing);
}

Status LocalGatherFromOwners(LocalGroup& group, void* out, std::size_t count,
                             std::size_t element, int owners) {
  const std::uint64_t first = group.chunks();
  const std::size_t per_chunk = PerPart(group, element, 1);
  const std::size_t longest = SliceOf(count, element, owners, 0).count;
  const auto piece_of = [&](int owner, std::uint64_t k) {
    const Slice slice = SliceOf(count, element, owners, owner);
    const Slice piece = Piece(slice.count, per_chunk, k);
    return Slice{(slice.begin + piece.begin) * element, piece.count * element};
  };
  return StreamChunks(
      group, ChunksOf(longest, per_chunk), Entries::kAwaited,
      [&](std::uint64_t k) {
        if (group.local() >= owners) return;
        const Slice piece = piece_of(group.local(), k);
        CopyBytes(group.segment().place(group.local(), first + k),
                  At(out, piece.begin), piece.count);
      },
      [&](std::uint64_t k) {
        for (int owner = 0; owner < owners; ++owner) {
          if (owner == group.local()) continue;
          const Slice piece = piece_of(owner, k);
          CopyBytes(At(out, piece.begin),
                    group.segment().place(owner, first + k), piece.count);
        }
      },
      kTakeNothing);
}

}  // namespace hvd
