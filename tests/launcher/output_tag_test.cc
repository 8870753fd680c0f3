#include "launcher/output_tag.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <regex>

#include "launcher/output_files.h"

using namespace std::chrono_literals;

namespace hvd {

TEST_CASE("OutputTag is horovodrun's until the second epoch", "[launcher]") {
  CHECK(OutputTag(3, Epoch{0}, "stdout") == "[3]<stdout>:");
  CHECK(OutputTag(3, Epoch{1}, "stdout") == "[3]<stdout>:");
  CHECK(OutputTag(12, Epoch{2}, "stderr") == "[12.e2]<stderr>:");
  CHECK(OutputTag(0, Epoch{50}, "log") == "[0.e50]<log>:");
}

TEST_CASE("OutputTimestamp sorts and has milliseconds", "[launcher]") {
  const std::chrono::system_clock::time_point when(1'700'000'000s + 7ms);
  const std::string text = OutputTimestamp(when);
  const std::regex form(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4})");
  CHECK(std::regex_match(text, form));
  CHECK(text.substr(17, 6) == "20.007");
  CHECK(OutputTimestamp(when + 1ms) > text);
  CHECK(OutputTimestamp(when - 8ms) < text);
}

TEST_CASE("PaddedRank is as wide as the largest rank", "[launcher]") {
  CHECK(PaddedRank(0, 1) == "0");
  CHECK(PaddedRank(0, 2) == "0");
  CHECK(PaddedRank(9, 10) == "9");
  CHECK(PaddedRank(9, 11) == "09");
  CHECK(PaddedRank(10, 11) == "10");
  CHECK(PaddedRank(7, 101) == "007");
  // A worker beyond the expected ones, as in an elastic job.
  CHECK(PaddedRank(10, 10) == "10");
}

}  // namespace hvd
