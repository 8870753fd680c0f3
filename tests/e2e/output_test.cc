// What workers print, as it arrives on hvdrun's own stdout and stderr.
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <regex>
#include <string>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kRanks = 8;
constexpr int kLinesEach = 50'000;

// Every line of every rank once, in the order that its rank wrote them.
void CheckEveryLine(const std::string& out) {
  std::array<int, kRanks> seen{};
  std::size_t wrong = 0;
  for (const std::string& line : Lines(out)) {
    const int rank = line.size() > 1 ? line[1] - '0' : -1;
    if (rank < 0 || rank >= kRanks) {
      ++wrong;
      continue;
    }
    int& number = seen.at(static_cast<std::size_t>(rank));
    const std::string expected =
        '[' + std::to_string(rank) + "]<stdout>:" + std::to_string(number + 1);
    if (line == expected) {
      ++number;
    } else {
      ++wrong;
    }
  }
  CHECK(wrong == 0);
  for (const int number : seen) CHECK(number == kLinesEach);
}

std::vector<std::string> ShellJob(const std::string& np,
                                  const std::string& script,
                                  std::vector<std::string> more = {}) {
  std::vector<std::string> words{"-np", np, "sh", "-c", script};
  words.insert(words.end(), more.begin(), more.end());
  return HvdrunCommand(words);
}

}  // namespace

TEST_CASE("hvdrun passes bytes on that are no valid text", "[e2e]") {
  // A character split by a pause, an invalid byte, a NUL. Horovod #2367.
  const std::string script =
      R"(printf '%0998d\342' 0; sleep 0.3; printf '\226\210\n\212\377 bad\n\000nul\n')";
  const std::string body = std::string(998, '0') + "\xe2\x96\x88\n";
  const std::string bad = "\x8a\xff bad\n";
  const std::string nul = std::string("\0nul\n", 5);
  const std::string tag = "[0]<stdout>:";

  const ProgramResult tagged = Hvdrun({"-np", "1", "sh", "-c", script});
  CHECK(tagged.status.ToShell() == 0);
  CHECK(tagged.out == tag + body + tag + bad + tag + nul);

  const ProgramResult raw =
      Hvdrun({"-np", "1", "--output", "raw", "sh", "-c", script});
  CHECK(raw.status.ToShell() == 0);
  CHECK(raw.out == body + bad + nul);
}

TEST_CASE("hvdrun keeps stdout and stderr apart", "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "2", "sh", "-c", "echo out; echo err >&2"});
  CHECK(result.status.ToShell() == 0);
  CHECK(Lines(result.out).size() == 2);
  for (const std::string rank : {"0", "1"}) {
    CHECK(LinesOf(result.out, "[" + rank + "]<stdout>:") ==
          std::vector<std::string>{"out"});
    CHECK(LinesOf(result.err, "[" + rank + "]<stderr>:") ==
          std::vector<std::string>{"err"});
  }
}

TEST_CASE("hvdrun --output raw leaves bytes and the missing last newline alone",
          "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "1", "--output", "raw", "sh", "-c",
              "printf 'a\\r50%%\\nb'; "
              "printf oops >&2"});
  CHECK(result.status.ToShell() == 0);
  CHECK(result.out == "a\r50%\nb");
  CHECK(result.err.rfind("oops\nhvdrun: ", 0) == 0);
}

TEST_CASE("hvdrun --output none shows nothing that workers print", "[e2e]") {
  const ProgramResult result = Hvdrun({"-np", "2", "--output", "none", "sh",
                                       "-c", "seq 1 100000; echo err >&2"});
  CHECK(result.status.ToShell() == 0);
  CHECK(result.out.empty());
  CHECK_FALSE(Contains(result.err, "err\n"));
}

TEST_CASE("hvdrun --prefix-output-with-timestamp puts a time before every tag",
          "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "2", "--prefix-output-with-timestamp", "sh", "-c",
              "echo one; echo two; echo three >&2"});
  CHECK(result.status.ToShell() == 0);
  const std::string time =
      R"([0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9](:[0-5][0-9]){2}\.[0-9]{3})"
      R"([+-][0-9]{4})";
  const std::regex out_line(time + R"(\[[01]\]<stdout>:(one|two))");
  const std::regex err_line(time + R"(\[[01]\]<stderr>:three)");
  CHECK(Lines(result.out).size() == 4);
  for (const std::string& line : Lines(result.out)) {
    INFO(line);
    CHECK(std::regex_match(line, out_line));
  }
  const auto errors = Lines(result.err);
  CHECK(
      std::count_if(errors.begin(), errors.end(), [&](const std::string& line) {
        return std::regex_match(line, err_line);
      }) == 2);
}

TEST_CASE("hvdrun shows a progress bar's every update at once", "[e2e]") {
  TemporaryDirectory directory;
  // The next update waits until the last one was seen. Horovod PR #931.
  Program program(ShellJob("1",
                           R"(for i in 1 2 3 4; do printf "\r$i%%"
                              until [ -e "$0/seen.$i" ]; do sleep 0.01; done
                              done; echo)",
                           {directory.path()}));
  for (const std::string step : {"1", "2", "3", "4"}) {
    INFO(program.out());
    const auto limit = step == "1" ? 5s : 1s;
    REQUIRE(program.WaitForOutput(step + "%", limit));
    directory.Write("seen." + step, "");
  }
  CHECK(program.Wait().status.ToShell() == 0);
}

TEST_CASE("hvdrun shows a line within 0.2 s of its being written", "[e2e]") {
  Program program(
      ShellJob("2", "for i in $(seq 20); do date +%s%N; sleep 0.02; done"));
  std::size_t seen = 0;
  std::vector<std::chrono::nanoseconds> delays;
  program.WaitUntil(
      [&] {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        std::size_t end = 0;
        while ((end = program.out().find('\n', seen)) != std::string::npos) {
          const std::string line = program.out().substr(seen, end - seen);
          const std::string stamp = line.substr(line.find(':') + 1);
          delays.push_back(now - std::chrono::nanoseconds(std::stoll(stamp)));
          seen = end + 1;
        }
        return delays.size() == 40;
      },
      20s);
  REQUIRE(delays.size() == 40);
  std::sort(delays.begin(), delays.end());
  // The last one may meet a busy machine.
  CHECK(delays[delays.size() - 2] < 200ms);
  CHECK(program.Wait().status.ToShell() == 0);
}

TEST_CASE("hvdrun closes a half line before another rank prints", "[e2e]") {
  TemporaryDirectory directory;
  Program program(
      ShellJob("2",
               R"(wait_for() { until [ -e "$1" ]; do sleep 0.01; done; }
         case $HOROVOD_RANK in
         0) printf 'half'; wait_for "$0/two"; echo ' rest';;
         1) wait_for "$0/one"; echo other; : > "$0/said";;
         esac)",
               {directory.path()}));
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(program.WaitForOutput("[0]<stdout>:half"));
  CHECK(std::chrono::steady_clock::now() - begin >= 150ms);
  CHECK(program.out() == "[0]<stdout>:half");
  directory.Write("one", "");
  REQUIRE(program.WaitForOutput("other\n"));
  CHECK(program.out() == "[0]<stdout>:half\n[1]<stdout>:other\n");
  directory.Write("two", "");
  const ProgramResult result = program.Wait();
  CHECK(result.status.ToShell() == 0);
  CHECK(result.out ==
        "[0]<stdout>:half\n[1]<stdout>:other\n[0]<stdout>: rest\n");
}

TEST_CASE("hvdrun loses no line of workers that exit", "[e2e]") {
  const ProgramResult result = Hvdrun({"-np", "8", "sh", "-c", "seq 1 50000"});
  CHECK(result.status.ToShell() == 0);
  CheckEveryLine(result.out);
}

TEST_CASE("hvdrun loses no line of workers that are killed", "[e2e]") {
  TemporaryDirectory directory;
  // All have written before the first one dies, which ends the others.
  const ProgramResult result = Hvdrun({"-np", "8", "sh", "-c",
                                       R"sh(seq 1 50000; : > "$0/$HOROVOD_RANK"
                 until [ "$(ls "$0" | wc -l)" = 8 ];
    do sleep 0.02; done
                 kill -9 $$)sh",
                                       directory.path()});
  CHECK(result.status.ToShell() == 137);
  CheckEveryLine(result.out);
}

TEST_CASE("hvdrun loses no line to a slow reader", "[e2e]") {
  ProgramOptions unread;
  unread.read_output = false;
  Program program(ShellJob("8", "seq 1 50000"), unread);
  program.WaitUntil([] { return false; }, 1500ms);
  CHECK(program.running());
  program.ReadOutput();
  const ProgramResult result = program.Wait();
  CHECK(result.status.ToShell() == 0);
  CheckEveryLine(result.out);
}

TEST_CASE("hvdrun goes on when its stdout is closed by the reader", "[e2e]") {
  const ProgramResult result =
      RunProgram({"bash", "-c",
                  R"("$0" -np 2 sh -c 'seq 1 100000; exit 3' | head -n 1
          echo "code=${PIPESTATUS[0]}")",
                  Bin("hvdrun")});
  CHECK(Contains(result.out, "code=3"));
}

TEST_CASE("hvdrun leaves its stdin, stdout and stderr blocking", "[e2e]") {
  for (const bool terminal : {false, true}) {
    ProgramOptions options;
    options.terminal = terminal;
    if (!terminal) options.stdin_text = "some input\n";
    const TemporaryDirectory directory;
    const std::string gate = directory / "gate";
    Program program(ShellJob("2",
                             "seq 1 20000; cat; echo done >&2; "
                             "until [ -e " +
                                 gate + " ]; do sleep 0.01; done"),
                    options);
    const std::string info =
        "/proc/" + std::to_string(program.pid()) + "/fdinfo/";
    std::size_t looks = 0;
    std::size_t non_blocking = 0;
    bool typed = false;
    const bool ended = program.WaitUntil(
        [&] {
          for (const std::string fd : {"0", "1", "2"}) {
            const std::string text = ReadFile(info + fd);
            const std::size_t at = text.find("flags:");
            if (at == std::string::npos) continue;
            const auto flags = std::stoul(text.substr(at + 6), nullptr, 8);
            ++looks;
            if ((flags & O_NONBLOCK) != 0) ++non_blocking;
          }
          if (terminal && !typed && Contains(program.out(), "20000")) {
            program.Type("\x04");
            typed = true;
          }
          if (looks > 100) std::ofstream(gate).put('\n');
          return !program.running();
        },
        20s);
    INFO(program.out().substr(0, 300) << program.err());
    CHECK(ended);
    CHECK(looks > 100);
    CHECK(non_blocking == 0);
  }
}

}  // namespace hvd::testing
