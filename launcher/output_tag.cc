#include "launcher/output_tag.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace hvd {

std::string OutputTag(int rank, Epoch epoch, std::string_view stream) {
  std::string tag = "[" + std::to_string(rank);
  const auto number = static_cast<std::uint64_t>(epoch);
  if (number >= 2) tag += ".e" + std::to_string(number);
  tag += "]<";
  tag += stream;
  tag += ">:";
  return tag;
}

std::string OutputTimestamp(std::chrono::system_clock::time_point when) {
  using std::chrono::floor;
  const auto second = floor<std::chrono::seconds>(when);
  const auto ms = floor<std::chrono::milliseconds>(when - second).count();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(second);
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> day{};
  std::array<char, 8> zone{};
  std::strftime(day.data(), day.size(), "%Y-%m-%dT%H:%M:%S", &local);
  std::strftime(zone.data(), zone.size(), "%z", &local);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s.%03d%s", day.data(),
                static_cast<int>(ms), zone.data());
  return text.data();
}

}  // namespace hvd
