// LocalSegment: the memory that the ranks of one host share, and what lies
// where in it.
//
// One sealed memfd, made by the host's first rank. Every counter has one writer
// and only grows, and zeroes are its beginning. Two places (by the operation's
// number, even or odd) for what each rank says of an operation; two (by the
// chunk's) for what it has in each chunk, one part for every rank that reads
// it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"
#include "collectives/call.h"
#include "collectives/sealed_memory.h"

namespace hvd {

inline constexpr std::size_t kLine = 64;  // a cache line
inline constexpr std::size_t kSlotBytes = std::size_t{16} << 10U;

// Where a rank's arrays lie in its heap, from 1; 0: elsewhere.
struct HeapPlaces {
  std::uint64_t in_at;
  std::uint64_t out_at;
};

// What a rank says when it enters an operation, in one line: its call, and with
// it a small array, or where long ones lie. `entered` is written last.
struct alignas(kLine) Entry {
  static constexpr std::size_t kSmall = 16;

  std::atomic<std::uint64_t> entered;  // the operation
  CallHeader call;
  union {
    std::array<std::byte, kSmall> small;
    HeapPlaces heap;
  };
};
static_assert(sizeof(Entry) == kLine);

// How far a rank is in the chunks of all operations so far.
struct alignas(kLine) Mark {
  std::atomic<std::uint64_t> chunks;
};

// Whether a rank sleeps, and what wakes it.
struct alignas(kLine) Bed {
  std::atomic<std::uint32_t> asleep;
  std::atomic<std::uint32_t> wakings;  // a futex
};

// Marked by the kernel when its rank dies; see life_mark.h.
struct alignas(kLine) Life {
  std::atomic<std::uint32_t> holder;
};

struct Member {
  Mark copied;     // its part of the chunk lies in its places
  Mark combined;   // it has read the others'
  Mark taken;      // and has taken what they have combined
  Mark published;  // the operation whose result it has put into its slot
  Bed bed;
  Life life;
};

class LocalSegment {
 public:
  static Result<UniqueFd> Create(int members, std::size_t chunk);
  // kInvalidArgument: `memory` is no such segment.
  static Result<LocalSegment> Open(const UniqueFd& memory, int members,
                                   std::size_t chunk);

  int members() const { return members_; }
  // How much one rank's places for one chunk hold, in all.
  std::size_t chunk() const { return chunk_; }

  Member& member(int local) const;
  // How many ranks sleep or are about to.
  std::atomic<std::uint32_t>& sleepers() const;
  Entry& entry(int local, std::uint64_t operation) const;
  // kSlotBytes for an array, beside the entry.
  std::byte* slot(int local, std::uint64_t operation) const;
  // chunk() bytes, and a line more for each part.
  std::byte* place(int local, std::uint64_t chunk) const;

 private:
  LocalSegment(SealedMemory memory, int members, std::size_t chunk)
      : memory_(std::move(memory)), members_(members), chunk_(chunk) {}

  SealedMemory memory_;
  int members_;
  std::size_t chunk_;
};

}  // namespace hvd
