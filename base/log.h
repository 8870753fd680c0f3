// Logger: what hvdrun says about itself, one line at a time.
//
// A line is "hvdrun 12:03:04.512 I driver: epoch=1 workers=4". It goes to the
// sink that the owner gave; nothing here writes to a descriptor. Errors that
// end the program are not log lines: cmd/ prints those.
//
// Loop thread only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hvd {

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kFatal };

// horovodrun's words, in any case: TRACE DEBUG INFO WARNING ERROR FATAL.
Result<LogLevel> ParseLogLevel(std::string_view word);
std::string_view LogLevelName(LogLevel level);

class Logger {
 public:
  using Sink = std::function<void(std::string_view line)>;  // no newline

  Logger(LogLevel threshold, Sink sink);

  void Log(LogLevel level, std::string_view component, std::string_view text);
  void Debug(std::string_view component, std::string_view text) {
    Log(LogLevel::kDebug, component, text);
  }
  void Info(std::string_view component, std::string_view text) {
    Log(LogLevel::kInfo, component, text);
  }
  void Warning(std::string_view component, std::string_view text) {
    Log(LogLevel::kWarning, component, text);
  }

 private:
  LogLevel threshold_;
  Sink sink_;
};

}  // namespace hvd
