// Clock offset: how far another host's clock is from this machine's, from
// questions and their answers.
//
// Wall times are compared here to be shown, and for nothing else. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hvd {

struct ClockSample {
  std::int64_t asked_unix_us = 0;  // by this machine's clock
  std::chrono::microseconds round_trip{0};
  std::int64_t answer_unix_us = 0;  // by the other's
};

struct ClockOffset {
  std::chrono::microseconds ahead{0};  // of this machine's clock
  std::chrono::microseconds error{0};  // at most so much either way
  bool operator==(const ClockOffset&) const = default;
};

// By the sample with the least round trip: the answer was given at some time
// within it, and its middle is off by no more than half. nullopt: none.
std::optional<ClockOffset> OffsetOf(const std::vector<ClockSample>& samples);

// "+0.31 ms +-0.12 ms", "-3.200 s +-0.12 ms".
std::string ClockOffsetText(const ClockOffset& offset);
// Surely off by so much that people and certificates mind.
bool IsClockWrong(const ClockOffset& offset);

}  // namespace hvd
