// CallLedger: how many operations of each kind a rank has finished, how much
// they moved and how long they took.
//
// One thread writes, any thread reads. Costs a few nanoseconds an operation: it
// counts the processor's ticks, and finds out how long one is when asked.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "collectives/call.h"

namespace hvd {

struct CallTotals {
  std::uint64_t operations = 0;
  std::uint64_t bytes = 0;  // of one rank's input
  std::chrono::nanoseconds time{0};
  std::chrono::nanoseconds longest{0};
};

class CallLedger {
 public:
  CallLedger();

  void Begin(Call call, std::size_t bytes);
  // The operation that was begun is done.
  void End();

  // Any thread.
  CallTotals TotalsOf(Call call) const;

 private:
  struct Row {
    std::atomic<std::uint64_t> operations{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> ticks{0};
    std::atomic<std::uint64_t> longest{0};
  };
  std::chrono::nanoseconds InTime(std::uint64_t ticks) const;

  std::array<Row, kCalls> rows_;
  Instant made_at_;
  std::uint64_t made_at_ticks_;
  Row* row_ = nullptr;  // of the operation in progress
  std::size_t bytes_ = 0;
  std::uint64_t begun_at_ = 0;
};

}  // namespace hvd
