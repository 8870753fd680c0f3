// LocalGroup: the ranks of one host, meeting in the memory they share.
//
// It knows how a rank enters an operation there, sees what the others call, and
// waits for them; what is computed in between is local_calls.h. A world whose
// ranks are alone on their hosts has groups of one, without memory.
//
// One thread at a time, but for WakeCaller.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "collectives/local_segment.h"
#include "collectives/shared_heap.h"
#include "collectives/topology.h"
#include "collectives/vigil.h"
#include "collectives/wait_policy.h"

namespace hvd {

// The calling thread's bed, which another thread of this rank may shake: the
// watch does when the world ends.
class LocalBed {
 public:
  explicit LocalBed(Bed& bed) : bed_(bed) {}
  void Wake() const;
  // Until somebody wakes it, or `at_most` has passed; not at all if that
  // happened after `wakings` was read.
  void Sleep(std::uint32_t wakings, Duration at_most) const;
  std::uint32_t wakings() const { return bed_.wakings.load(); }
  void SetAsleep(bool asleep) const { bed_.asleep.store(asleep ? 1 : 0); }

 private:
  Bed& bed_;
};

// Spinning of a thread that waits for other cores only.
struct SpinPolicy {
  int pauses = 0;
  WaitPolicy then;
};
SpinPolicy ChooseSpin(int ranks_here, int cores);

class LocalGroup {
 public:
  // `vigil` outlives this.
  LocalGroup(const Topology& topology, LocalSegment segment, HeapMap heaps,
             SpinPolicy spin, Vigil& vigil);

  int size() const { return segment_.members(); }
  int local() const { return local_; }
  const LocalSegment& segment() const { return segment_; }
  std::uint64_t operation() const { return vigil_.call().operation; }

  // What this rank calls, for the others to see, with `small`, at most
  // Entry::kSmall bytes, or else where its arrays lie.
  void EnterWithSmall(const void* small, std::size_t bytes);
  void EnterWithArrays(const void* in, const void* out, std::size_t in_bytes,
                       std::size_t out_bytes);
  // Until every rank of the host has entered, each with the same call.
  Status AwaitEntries();
  // Of an entered rank.
  const Entry& EntryOf(int local) const {
    return segment_.entry(local, operation());
  }
  // Whether this rank's arrays, or the arrays of all entered ranks, each of
  // `bytes`, can be reached by the others.
  bool OwnInHeap() const { return InHeap(local_); }
  bool AllInHeaps(std::size_t bytes) const;
  // Where they are then, here.
  const std::byte* InputOf(int local) const;
  std::byte* OutputOf(int local) const;

  // Publishes that this rank's `mark` stands at `value`.
  void Set(Mark Member::*mark, std::uint64_t value);
  // Until that of rank `local`, or of all ranks, stands at `value` or beyond.
  Status AwaitMark(int local, Mark Member::*mark, std::uint64_t value);
  Status AwaitMarks(Mark Member::*mark, std::uint64_t value);

  // The chunks of all operations so far, the same number on all ranks.
  std::uint64_t chunks() const { return chunks_; }
  void AddChunks(std::uint64_t count) { chunks_ += count; }

  // Kept for their memory: one pointer for each rank; any number of bytes.
  std::vector<const void*>& arrays() { return arrays_; }
  std::vector<std::byte>& scratch() { return scratch_; }

  // A rank that has died, or an entry that does not fit the call in progress.
  Status LookAround();
  // Where the others see whether this rank lives.
  std::atomic<std::uint32_t>& life() const {
    return segment_.member(local_).life.holder;
  }
  // Any thread.
  void WakeCaller() const;

 private:
  template <class Arrived>
  Status Await(int local, const Arrived& arrived);
  template <class Arrived>
  Status AwaitSlowly(int local, const Arrived& arrived);
  void Publish(std::atomic<std::uint64_t>& word, std::uint64_t value);
  void WakeSleepers();
  bool InHeap(int local) const {
    const Entry& entry = EntryOf(local);
    return entry.heap.in_at != 0 && entry.heap.out_at != 0;
  }
  std::span<std::byte> HeapOf(int local) const {
    return heap_map_.heaps[static_cast<std::size_t>(local)];
  }
  int RankOf(int local) const {
    return ranks_[static_cast<std::size_t>(local)];
  }

  std::vector<int> ranks_;
  int local_;
  LocalSegment segment_;
  HeapMap heap_map_;
  SpinPolicy spin_;
  Vigil& vigil_;
  std::uint64_t chunks_ = 0;
  std::vector<const void*> arrays_;
  std::vector<std::byte> scratch_;
};

}  // namespace hvd
