#include "collectives/call_ledger.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include <algorithm>

namespace hvd {
namespace {

std::uint64_t Ticks() {
#ifdef __x86_64__
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(
      SteadyClock().Now().time_since_epoch().count());
#endif
}

// There is one writer: no need for an atomic addition.
void Add(std::atomic<std::uint64_t>& sum, std::uint64_t more) {
  sum.store(sum.load(std::memory_order_relaxed) + more,
            std::memory_order_relaxed);
}

}  // namespace

CallLedger::CallLedger()
    : made_at_(SteadyClock().Now()), made_at_ticks_(Ticks()) {}

void CallLedger::Begin(Call call, std::size_t bytes) {
  row_ = &rows_[static_cast<std::size_t>(call)];
  bytes_ = bytes;
  begun_at_ = Ticks();
}

void CallLedger::End() {
  const std::uint64_t took = Ticks() - begun_at_;
  Add(row_->operations, 1);
  Add(row_->bytes, bytes_);
  Add(row_->ticks, took);
  if (took > row_->longest.load(std::memory_order_relaxed)) {
    row_->longest.store(took, std::memory_order_relaxed);
  }
}

CallTotals CallLedger::TotalsOf(Call call) const {
  const Row& row = rows_[static_cast<std::size_t>(call)];
  return {row.operations.load(), row.bytes.load(), InTime(row.ticks.load()),
          InTime(row.longest.load())};
}

std::chrono::nanoseconds CallLedger::InTime(std::uint64_t ticks) const {
  const std::chrono::duration<double, std::nano> since =
      SteadyClock().Now() - made_at_;
  const auto since_ticks =
      static_cast<double>(std::max<std::uint64_t>(Ticks() - made_at_ticks_, 1));
  return std::chrono::nanoseconds(static_cast<std::int64_t>(
      static_cast<double>(ticks) * (since.count() / since_ticks)));
}

}  // namespace hvd
