#include "cmd/reset_lines.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/seconds.h"

namespace hvd {
namespace {

constexpr std::size_t kMostLines = 10;

// "8.2 ms", "1.25 s"
std::string Took(Moment duration) {
  if (duration >= std::chrono::seconds(1)) {
    return SecondsText(std::chrono::duration_cast<Duration>(duration));
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f ms",
                static_cast<double>(duration.count()) / 1000);
  return text.data();
}

std::string Line(const Reset& reset) {
  const auto epoch = static_cast<std::uint64_t>(reset.epoch);
  const auto at = std::chrono::duration_cast<Duration>(reset.seen);
  std::string line =
      "epoch " + std::to_string(epoch) + " at " + SecondsText(at) + ": " +
      std::to_string(reset.size_before) + " -> " +
      std::to_string(reset.size_after) + " workers, decided in " +
      Took(reset.published - reset.seen) + ", ";
  line += reset.formed ? "formed in " + Took(*reset.formed - reset.published)
                       : "never formed";
  return line + ": " + reset.why;
}

}  // namespace

std::vector<std::string> ResetLines(const std::vector<Reset>& resets) {
  if (resets.empty()) return {};
  const std::size_t shown = std::min(resets.size(), kMostLines);
  std::string first = std::to_string(resets.size()) +
                      (resets.size() == 1 ? " reset" : " resets");
  if (shown < resets.size()) {
    first += ", the last " + std::to_string(shown) + " (--report has all)";
  }
  std::vector<std::string> lines = {first + ':'};
  for (std::size_t i = resets.size() - shown; i < resets.size(); ++i) {
    lines.push_back("  " + Line(resets[i]));
  }
  return lines;
}

}  // namespace hvd
