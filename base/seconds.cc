#include "base/seconds.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace hvd {
namespace {

constexpr std::int64_t kMaxSeconds = std::int64_t{100} * 366 * 86'400;

bool AllDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

Error NotSeconds(std::string_view text) {
  return {ErrorCode::kInvalidArgument,
          "must be a number of seconds, like 30 or 0.5, got \"" +
              std::string(text) + "\""};
}

}  // namespace

Result<Duration> ParseSeconds(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, dot);
  std::string_view decimals =
      dot < text.size() ? text.substr(dot + 1) : std::string_view();
  if ((whole.empty() && decimals.empty()) || !AllDigits(whole) ||
      !AllDigits(decimals)) {
    return NotSeconds(text);
  }
  std::int64_t seconds = 0;
  if (!whole.empty()) {
    const auto parsed =
        std::from_chars(whole.data(), whole.data() + whole.size(), seconds);
    if (parsed.ec != std::errc() || seconds > kMaxSeconds) {
      return Error{ErrorCode::kInvalidArgument,
                   "must be at most " + std::to_string(kMaxSeconds) +
                       " seconds, got \"" + std::string(text) + "\""};
    }
  }
  std::int64_t ms = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    ms = ms * 10 + (i < decimals.size() ? decimals[i] - '0' : 0);
  }
  return Duration{seconds * 1000 + ms};
}

std::string SecondsText(Duration duration) {
  const std::int64_t ms = std::max<std::int64_t>(duration.count(), 0);
  std::string text = std::to_string(ms / 1000);
  if (ms % 1000 != 0) {
    std::string decimals = std::to_string(1000 + ms % 1000).substr(1);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    text += '.' + decimals;
  }
  return text + " s";
}

}  // namespace hvd
