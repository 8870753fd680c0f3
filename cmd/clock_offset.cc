#include "cmd/clock_offset.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace hvd {
namespace {

using std::chrono::microseconds;

constexpr microseconds kSecond{1'000'000};
constexpr std::int64_t kUsPerHundredth = 10;  // of a millisecond
constexpr double kUsPerMs = 1e3;
constexpr double kUsPerSecond = 1e6;

std::string Printed(const char* format, double value) {
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

microseconds Size(microseconds time) {
  return time < microseconds{0} ? -time : time;
}

}  // namespace

std::optional<ClockOffset> OffsetOf(const std::vector<ClockSample>& samples) {
  const auto best =
      std::min_element(samples.begin(), samples.end(),
                       [](const ClockSample& a, const ClockSample& b) {
                         return a.round_trip < b.round_trip;
                       });
  if (best == samples.end()) return std::nullopt;
  const microseconds half = best->round_trip / 2;
  return ClockOffset{
      microseconds(best->answer_unix_us - best->asked_unix_us) - half,
      best->round_trip - half};
}

std::string ClockOffsetText(const ClockOffset& offset) {
  // To what is printed: no "-0.00".
  const auto hundredths = offset.ahead.count() / kUsPerHundredth;
  const auto ahead = static_cast<double>(hundredths * kUsPerHundredth);
  const std::string text = Size(offset.ahead) < kSecond
                               ? Printed("%+.2f ms", ahead / kUsPerMs)
                               : Printed("%+.3f s", ahead / kUsPerSecond);
  return text + Printed(" +-%.2f ms",
                        static_cast<double>(offset.error.count()) / kUsPerMs);
}

bool IsClockWrong(const ClockOffset& offset) {
  return Size(offset.ahead) - offset.error > kSecond;
}

}  // namespace hvd
