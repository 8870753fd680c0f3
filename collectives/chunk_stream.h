// StreamChunks: an operation's chunks on their way through the places of a
// group, several under way at once.
//
// A chunk takes three steps on every rank: the rank copies what others need of
// its array into its places, combines what all have copied (or just reads it),
// and takes what the others have combined. Each needs that all ranks have
// finished the step before it, so the steps of neighbouring chunks alternate,
// and nobody waits for what was just begun.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "collectives/local_group.h"

namespace hvd {

enum class Entries { kAwaited, kToBeAwaited };

// `Copy`, `Combine`, `Take`: called with the number of the chunk, from 0; where
// its places are, says LocalGroup::segment().place(local, first + number), with
// `first` as group.chunks() is before the call.
template <class Copy, class Combine, class Take>
Status StreamChunks(LocalGroup& group, std::uint64_t chunks, Entries entries,
                    const Copy& copy, const Combine& combine,
                    const Take& take) {
  const std::uint64_t first = group.chunks();
  group.AddChunks(chunks);
  // Counts chunks of all operations, as marks do.
  const auto done = [first](std::uint64_t number) { return first + number; };
  // The places of a chunk were those of the one two before.
  const auto reusable = [first](std::uint64_t number) {
    return first + number < 1 ? 0 : first + number - 1;
  };
  for (std::uint64_t turn = 0; turn < chunks + 2; ++turn) {
    if (turn < chunks) {
      const std::uint64_t k = turn;
      Status s = group.AwaitMarks(&Member::combined, reusable(k));
      if (!s.ok()) return s;
      copy(k);
      group.Set(&Member::copied, done(k + 1));
    }
    if (turn == 0 && entries == Entries::kToBeAwaited) {
      if (Status s = group.AwaitEntries(); !s.ok()) return s;
    }
    if (turn >= 1 && turn - 1 < chunks) {
      const std::uint64_t k = turn - 1;
      Status s = group.AwaitMarks(&Member::copied, done(k + 1));
      if (s.ok()) s = group.AwaitMarks(&Member::taken, reusable(k));
      if (!s.ok()) return s;
      combine(k);
      group.Set(&Member::combined, done(k + 1));
    }
    if (turn >= 2) {
      const std::uint64_t k = turn - 2;
      Status s = group.AwaitMarks(&Member::combined, done(k + 1));
      if (!s.ok()) return s;
      take(k);
      group.Set(&Member::taken, done(k + 1));
    }
  }
  return Done{};
}

// For operations of two steps.
inline constexpr auto kTakeNothing = [](std::uint64_t) {};

}  // namespace hvd
