#include "collectives/local_group.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <ctime>
#include <functional>
#include <utility>

#include "collectives/copy_bytes.h"
#include "collectives/life_mark.h"

namespace hvd {
namespace {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Shared between processes: without FUTEX_PRIVATE_FLAG.
void Futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  (void)::syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

bool Within(std::span<const std::byte> heap, const std::byte* at,
            std::size_t bytes) {
  return std::greater_equal<>()(at, heap.data()) &&
         std::less_equal<>()(at, heap.data() + heap.size()) &&
         bytes <= static_cast<std::size_t>(heap.data() + heap.size() - at);
}

// One wait for one rank, as Vigil::Until wants it.
template <class Arrived>
class BedWait {
 public:
  BedWait(const LocalSegment& segment, Bed& bed, int suspect,
          const Arrived& arrived)
      : segment_(segment), bed_(bed), suspect_(suspect), arrived_(arrived) {}

  bool done() const { return arrived_(); }
  Result<bool> Move() { return false; }
  int Suspect() const { return suspect_; }

  // Who enters looks at `sleepers` after it has stored what is waited for, and
  // this looks at that after it has counted itself among them, with a barrier
  // between on both sides: one of the two sees the other.
  void Sleep(Duration at_most) {
    const std::uint32_t wakings = bed_.wakings();
    bed_.SetAsleep(true);
    segment_.sleepers().fetch_add(1);
    if (!arrived_()) bed_.Sleep(wakings, at_most);
    segment_.sleepers().fetch_sub(1);
    bed_.SetAsleep(false);
  }

 private:
  const LocalSegment& segment_;
  LocalBed bed_;
  int suspect_;
  const Arrived& arrived_;
};

}  // namespace

void LocalBed::Wake() const {
  bed_.wakings.fetch_add(1);
  Futex(bed_.wakings, FUTEX_WAKE, INT_MAX, nullptr);
}

void LocalBed::Sleep(std::uint32_t wakings, Duration at_most) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at_most);
  const std::chrono::nanoseconds rest = at_most - seconds;
  const timespec timeout{static_cast<std::time_t>(seconds.count()),
                         static_cast<long>(rest.count())};
  Futex(bed_.wakings, FUTEX_WAIT, wakings, &timeout);
}

// Measured on 2 cores: a line comes over from the other core within 0.5 us, a
// sleeping thread wakes within 15. Two ranks may share a core even where there
// is one for each, so a rank yields soon, and often before it sleeps.
SpinPolicy ChooseSpin(int ranks_here, int cores) {
  using std::chrono::microseconds;
  return {ranks_here <= cores ? 200 : 50, {microseconds(0), 64}};
}

LocalGroup::LocalGroup(const Topology& topology, LocalSegment segment,
                       HeapMap heaps, SpinPolicy spin, Vigil& vigil)
    : ranks_(topology.mates()),
      local_(topology.local),
      segment_(std::move(segment)),
      heap_map_(std::move(heaps)),
      spin_(spin),
      vigil_(vigil),
      arrays_(ranks_.size()) {}

void LocalGroup::EnterWithSmall(const void* small, std::size_t bytes) {
  Entry& entry = segment_.entry(local_, operation());
  entry.call = vigil_.call();
  if (bytes > 0) CopyBytes(entry.small.data(), small, bytes);
  Publish(entry.entered, operation());
}

void LocalGroup::EnterWithArrays(const void* in, const void* out,
                                 std::size_t in_bytes, std::size_t out_bytes) {
  Entry& entry = segment_.entry(local_, operation());
  entry.call = vigil_.call();
  const auto place = [&](const void* at, std::size_t bytes) -> std::uint64_t {
    if (heap_map_.heaps.empty()) return 0;
    const std::span<std::byte> heap = HeapOf(local_);
    const auto* const begin = static_cast<const std::byte*>(at);
    if (!Within(heap, begin, bytes)) return 0;
    return 1 + static_cast<std::uint64_t>(begin - heap.data());
  };
  entry.heap = {place(in, in_bytes), place(out, out_bytes)};
  Publish(entry.entered, operation());
}

Status LocalGroup::AwaitEntries() {
  for (int local = 0; local < size(); ++local) {
    if (local == local_) continue;
    const Entry& entry = EntryOf(local);
    Status entered = Await(local, [&entry, this] {
      return entry.entered.load(std::memory_order_acquire) == operation();
    });
    if (!entered.ok()) return entered;
    if (entry.call == vigil_.call()) continue;
    (void)vigil_.Check(RankOf(local), entry.call);
    return vigil_.AwaitVerdict();
  }
  return Done{};
}

bool LocalGroup::AllInHeaps(std::size_t bytes) const {
  for (int local = 0; local < size(); ++local) {
    if (!InHeap(local) || !Within(HeapOf(local), InputOf(local), bytes) ||
        !Within(HeapOf(local), OutputOf(local), bytes)) {
      return false;
    }
  }
  return true;
}

const std::byte* LocalGroup::InputOf(int local) const {
  return HeapOf(local).data() + EntryOf(local).heap.in_at - 1;
}

std::byte* LocalGroup::OutputOf(int local) const {
  return HeapOf(local).data() + EntryOf(local).heap.out_at - 1;
}

void LocalGroup::Set(Mark Member::*mark, std::uint64_t value) {
  Publish((segment_.member(local_).*mark).chunks, value);
}

// The word shares its line with what was written just before, and another core
// is reading that line all the while. A plain store leaves together with those;
// one that is a barrier itself would have to fetch the line a second time.
void LocalGroup::Publish(std::atomic<std::uint64_t>& word,
                         std::uint64_t value) {
  word.store(value, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  WakeSleepers();
}

Status LocalGroup::AwaitMark(int local, Mark Member::*mark,
                             std::uint64_t value) {
  const std::atomic<std::uint64_t>& chunks =
      (segment_.member(local).*mark).chunks;
  return Await(local, [&chunks, value] {
    return chunks.load(std::memory_order_acquire) >= value;
  });
}

Status LocalGroup::AwaitMarks(Mark Member::*mark, std::uint64_t value) {
  for (int local = 0; local < size(); ++local) {
    if (local == local_) continue;
    if (Status s = AwaitMark(local, mark, value); !s.ok()) return s;
  }
  return Done{};
}

template <class Arrived>
Status LocalGroup::Await(int local, const Arrived& arrived) {
  for (int i = 0; i < spin_.pauses; ++i) {
    if (arrived()) return Done{};
    Pause();
  }
  return AwaitSlowly(local, arrived);
}

template <class Arrived>
Status LocalGroup::AwaitSlowly(int local, const Arrived& arrived) {
  BedWait<Arrived> wait(segment_, segment_.member(local_).bed, RankOf(local),
                        arrived);
  return vigil_.Until(wait, spin_.then);
}

void LocalGroup::WakeSleepers() {
  if (segment_.sleepers().load() == 0) return;
  for (int local = 0; local < size(); ++local) {
    if (local == local_) continue;
    Bed& bed = segment_.member(local).bed;
    if (bed.asleep.load() != 0) LocalBed(bed).Wake();
  }
}

Status LocalGroup::LookAround() {
  for (int local = 0; local < size(); ++local) {
    if (HolderDied(segment_.member(local).life.holder)) {
      return vigil_.Bury(RankOf(local));
    }
    const Entry& entry = EntryOf(local);
    if (entry.entered.load() != operation()) continue;
    if (Status s = vigil_.Check(RankOf(local), entry.call); !s.ok()) return s;
  }
  return Done{};
}

void LocalGroup::WakeCaller() const {
  LocalBed(segment_.member(local_).bed).Wake();
}

}  // namespace hvd
