#include "launcher/stderr_tail.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace hvd {
namespace {

using Lines = std::vector<std::string>;

Lines TailOf(const std::string& text) {
  StderrTail tail;
  tail.Append(text);
  return tail.Lines();
}

}  // namespace

TEST_CASE("StderrTail has no lines of nothing", "[launcher]") {
  CHECK(TailOf("").empty());
}

TEST_CASE("StderrTail keeps lines, the unfinished last one included",
          "[launcher]") {
  CHECK(TailOf("a\n\nb") == Lines{"a", "", "b"});
  CHECK(TailOf("a\r\nb\r\n") == Lines{"a", "b"});
}

TEST_CASE("StderrTail keeps the last form of a progress bar", "[launcher]") {
  CHECK(TailOf("\r10%\r20%\r30%\nend\n") == Lines{"30%", "end"});
  CHECK(TailOf("10%\r20%\r") == Lines{"20%"});
}

TEST_CASE("StderrTail keeps the last 20 lines", "[launcher]") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + '\n';
  const Lines lines = TailOf(text);
  REQUIRE(lines.size() == 20);
  CHECK(lines.front() == "80");
  CHECK(lines.back() == "99");
}

TEST_CASE("StderrTail keeps whole lines of the last 8 KiB", "[launcher]") {
  const std::string line(1023, 'x');
  std::string text;
  for (int i = 0; i < 12; ++i) text += line + '\n';
  CHECK(TailOf(text) == Lines(8, line));
  // One byte more in front: a line of which only the end is there is left out.
  CHECK(TailOf(text + 'y') == [&] {
    Lines lines(7, line);
    lines.emplace_back("y");
    return lines;
  }());
}

TEST_CASE("StderrTail keeps the end of one endless line", "[launcher]") {
  const Lines lines = TailOf(std::string(100'000, 'x'));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == std::string(StderrTail::kMaxBytes, 'x'));
}

TEST_CASE("StderrTail gives the same whatever pieces it was fed",
          "[launcher]") {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "line " + std::to_string(i) + '\n';
  for (const std::size_t step : {1U, 7U, 1000U, 8192U, 8193U, 20000U}) {
    StderrTail tail;
    for (std::size_t at = 0; at < text.size(); at += step) {
      tail.Append(std::string_view(text).substr(at, step));
    }
    CAPTURE(step);
    CHECK(tail.Lines() == TailOf(text));
  }
}

}  // namespace hvd
