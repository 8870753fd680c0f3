#include "base/log.h"

#include <catch2/catch.hpp>
#include <regex>
#include <string>
#include <vector>

namespace hvd {

TEST_CASE("ParseLogLevel takes horovodrun's words in any case", "[base]") {
  CHECK(ParseLogLevel("debug").value() == LogLevel::kDebug);
  CHECK(ParseLogLevel("FATAL").value() == LogLevel::kFatal);
  CHECK(ParseLogLevel("loud").error().message() ==
        "unknown log level \"loud\": one of TRACE DEBUG INFO WARNING ERROR "
        "FATAL");
}

TEST_CASE("Logger says who, when, how serious and what in one line", "[base]") {
  std::vector<std::string> lines;
  Logger logger(LogLevel::kInfo,
                [&](std::string_view line) { lines.emplace_back(line); });
  logger.Info("driver", "epoch=3 workers=6");
  REQUIRE(lines.size() == 1);
  CHECK(std::regex_match(
      lines[0],
      std::regex(
          R"(hvdrun \d\d:\d\d:\d\d\.\d\d\d I driver: epoch=3 workers=6)")));
}

TEST_CASE("Logger drops what is below its threshold", "[base]") {
  int lines = 0;
  Logger logger(LogLevel::kWarning, [&](std::string_view) { ++lines; });
  logger.Debug("driver", "no");
  logger.Info("driver", "no");
  logger.Warning("driver", "yes");
  CHECK(lines == 1);
}

}  // namespace hvd
