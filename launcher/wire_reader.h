// WireReader: what agents' messages may hold, value by value.
//
// What cannot be meant is refused, whoever sent it. Private to the codecs.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "rendezvous/world.h"

namespace hvd {

// A day; graces are seconds.
inline constexpr std::int64_t kLongestGraceMs = 86'400'000;
inline constexpr int kLastSignal = 64;
inline constexpr std::int64_t kLastPid = 1 << 22;  // the kernel's own limit
inline constexpr std::size_t kMaxText = 64U << 10U;

inline Error Refuse(const char* what) {
  return {ErrorCode::kInvalidArgument,
          std::string("the other end sent an impossible ") + what};
}

inline std::uint64_t Wire(LaunchId id) {
  return static_cast<std::uint64_t>(id);
}

// Notes the first thing that is wrong, so that a message is read in one go.
class WireReader {
 public:
  LaunchId Id(std::uint64_t id) {
    Check(id <= static_cast<std::uint64_t>(std::numeric_limits<int>::max()),
          "launch");
    return static_cast<LaunchId>(id);
  }
  int Signal(std::int32_t signo) {
    Check(signo >= 0 && signo <= kLastSignal, "signal");
    return signo;
  }
  Duration Grace(std::int64_t ms) {
    Check(ms >= 0 && ms <= kLongestGraceMs, "time");
    return Duration(ms);
  }
  pid_t Pid(std::int64_t pid) {
    Check(pid >= 0 && pid <= kLastPid, "pid");
    return static_cast<pid_t>(pid);
  }
  ErrorCode Code(std::int32_t code) {
    Check(code >= 0 && code <= static_cast<std::int32_t>(ErrorCode::kInternal),
          "error");
    return static_cast<ErrorCode>(code);
  }
  std::uint16_t Port(std::uint32_t port) {
    Check(port <= std::numeric_limits<std::uint16_t>::max(), "port");
    return static_cast<std::uint16_t>(port);
  }
  int Small(std::uint32_t number) {
    Check(number <= static_cast<std::uint32_t>(kLastPid), "number");
    return static_cast<int>(number);
  }
  std::string Text(const std::string& text) {
    Check(text.size() <= kMaxText, "text");
    return text;
  }
  void Check(bool holds, const char* what) {
    if (!holds && !error_) error_ = Refuse(what);
  }
  template <class T>
  Result<T> Finish(T value) {
    if (error_) return *error_;
    return value;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace hvd
