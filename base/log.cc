#include "base/log.h"

#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

#include "base/clock.h"

namespace hvd {
namespace {

constexpr std::array<std::string_view, 6> kNames = {
    "TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "FATAL"};
constexpr std::string_view kLetters = "TDIWEF";

std::string TimeOfDay() {
  const auto now = WallNow();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                      now.time_since_epoch())
                      .count() %
                  1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%02d:%02d:%02d.%03d", local.tm_hour,
                local.tm_min, local.tm_sec, static_cast<int>(ms));
  return text.data();
}

}  // namespace

Result<LogLevel> ParseLogLevel(std::string_view word) {
  std::string upper(word);
  for (char& c : upper) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == upper) return static_cast<LogLevel>(i);
  }
  return Error{ErrorCode::kInvalidArgument,
               "unknown log level \"" + std::string(word) +
                   "\": one of TRACE DEBUG INFO WARNING ERROR FATAL"};
}

std::string_view LogLevelName(LogLevel level) {
  return kNames[static_cast<std::size_t>(level)];
}

Logger::Logger(LogLevel threshold, Sink sink)
    : threshold_(threshold), sink_(std::move(sink)) {}

void Logger::Log(LogLevel level, std::string_view component,
                 std::string_view text) {
  if (level < threshold_) return;
  std::string line = "hvdrun " + TimeOfDay() + ' ';
  line += kLetters[static_cast<std::size_t>(level)];
  line.append(" ").append(component).append(": ").append(text);
  sink_(line);
}

}  // namespace hvd
