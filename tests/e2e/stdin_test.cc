// Where hvdrun's stdin goes.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "tests/e2e/hvdrun.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

// md5sum of `seq 1 200000`, by coreutils.
constexpr const char* kMd5OfNumbers = "0e10426a1d5bddffcef02f1345787128";

std::string Numbers() {
  std::string text;
  for (int i = 1; i <= 200'000; ++i) text += std::to_string(i) + '\n';
  return text;
}

ProgramOptions WithStdin(std::string text) {
  ProgramOptions options;
  options.stdin_text = std::move(text);
  return options;
}

}  // namespace

TEST_CASE("hvdrun gives its whole stdin to rank 0 and none to the others",
          "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "2", "-H", "localhost:2", "sh", "-c",
              "if [ $HOROVOD_RANK = 0 ]; then md5sum; else wc -c; fi"},
             WithStdin(Numbers()));
  CHECK(result.status.ToShell() == 0);
  CHECK(LinesOf(result.out, "[0]<stdout>:") ==
        std::vector<std::string>{std::string(kMd5OfNumbers) + "  -"});
  CHECK(LinesOf(result.out, "[1]<stdout>:") == std::vector<std::string>{"0"});
}

TEST_CASE("hvdrun --stdin 1 gives stdin to rank 1", "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "2", "--stdin", "1", "wc", "-c"}, WithStdin("hello\n"));
  CHECK(result.status.ToShell() == 0);
  CHECK(LinesOf(result.out, "[0]<stdout>:") == std::vector<std::string>{"0"});
  CHECK(LinesOf(result.out, "[1]<stdout>:") == std::vector<std::string>{"6"});
}

TEST_CASE("hvdrun --stdin none gives every worker an end of file", "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "2", "--stdin", "none", "wc", "-c"}, WithStdin("hello\n"));
  CHECK(result.status.ToShell() == 0);
  CHECK(LinesOf(result.out, "[0]<stdout>:") == std::vector<std::string>{"0"});
  CHECK(LinesOf(result.out, "[1]<stdout>:") == std::vector<std::string>{"0"});
}

TEST_CASE("hvdrun --stdin refuses a rank that the job does not have", "[e2e]") {
  const ProgramResult result = Hvdrun({"-np", "2", "--stdin", "2", "true"});
  CHECK(result.status.ToShell() == 125);
  CHECK(Contains(result.err, "--stdin"));
}

TEST_CASE("hvdrun runs with its stdin closed", "[e2e]") {
  ProgramOptions options;
  options.stdin_closed = true;
  const ProgramResult result =
      Hvdrun({"-np", "2", "sh", "-c", "wc -c; echo err >&2"}, options);
  CHECK(result.status.ToShell() == 0);
  CHECK(LinesOf(result.out, "[0]<stdout>:") == std::vector<std::string>{"0"});
  CHECK(LinesOf(result.out, "[1]<stdout>:") == std::vector<std::string>{"0"});
  CHECK(LinesOf(result.err, "[0]<stderr>:") == std::vector<std::string>{"err"});
}

TEST_CASE("hvdrun ends with its workers while its stdin stays open", "[e2e]") {
  // Nobody types, nobody closes.
  ProgramOptions at_terminal;
  at_terminal.terminal = true;
  Program silent(HvdrunCommand({"-np", "1", "true"}), at_terminal);
  CHECK(silent.Wait(5s).status.ToShell() == 0);

  // A line at a terminal that stays open. PRRTE #2709.
  Program asking(HvdrunCommand({"-np", "1", "-H", "localhost:1", "sh", "-c",
                                "echo ready; read l; echo got $l"}),
                 at_terminal);
  REQUIRE(asking.WaitForOutput("ready"));
  asking.Type("word\n");
  const ProgramResult result = asking.Wait(5s);
  CHECK(result.status.ToShell() == 0);
  CHECK(Contains(result.out, "got word"));
}

TEST_CASE("hvdrun goes on when the rank with stdin does not read it", "[e2e]") {
  // Far more than any pipe holds; its writer must not be waited for either.
  const ProgramResult result =
      RunProgram({"bash", "-c",
                  R"(seq 1 1000000 2>/dev/null | "$0" -np 2 true
          echo "code=${PIPESTATUS[1]}")",
                  Bin("hvdrun")},
                 {}, 10s);
  CHECK(Contains(result.out, "code=0"));
}

}  // namespace hvd::testing
