// `hvdrun … | (sleep 40; wc -l)`: a reader that does not read stops nothing
// but the output.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

// hvdrun gives a reader that is in the way 2 s, and then is gone.
constexpr auto kPatience = 5s;

// Ranks that print for ever, say in a file who they are and tell the signals
// that they get in another.
enum class Pipes { kTwo, kOne };  // kOne: hvdrun … 2>&1 | …

Program StartFlood(const ScopedMark& mark, const TemporaryDirectory& directory,
                   const std::vector<std::string>& flags,
                   Pipes pipes = Pipes::kTwo) {
  std::vector<std::string> words{"-np", "3"};
  words.insert(words.end(), flags.begin(), flags.end());
  for (const std::string& word :
       {std::string("sh"), std::string("-c"),
        std::string("trap 'echo USR1 >>$0/signals.$HVD_RANK' USR1; "
                    "echo $$ >$0/new.$HVD_RANK; "
                    "mv $0/new.$HVD_RANK $0/pid.$HVD_RANK; "
                    "(trap '' USR1; exec yes a-line-of-output) & "
                    "while :; do wait; sleep 0.05; done"),
        directory.path()}) {
    words.push_back(word);
  }
  std::vector<std::string> command = HvdrunCommand(std::move(words));
  if (pipes == Pipes::kOne) {
    command.insert(command.begin(), {"sh", "-c", R"(exec "$0" "$@" 2>&1)"});
  }
  return Program(std::move(command), Marked(mark, {.read_output = false}));
}

pid_t WaitForPid(Program& program, const TemporaryDirectory& directory,
                 int rank) {
  const std::string file = directory / ("pid." + std::to_string(rank));
  REQUIRE(program.WaitUntil([&] { return !ReadFile(file).empty(); }, 10s));
  return std::stoi(ReadFile(file));
}

// The pipes are full: the workers write no more, for a while.
void WaitUntilStalled(Program& program, const TemporaryDirectory& directory) {
  for (int rank = 0; rank < 3; ++rank) WaitForPid(program, directory, rank);
  program.WaitUntil([] { return false; }, 500ms);
}

// hvdrun and its keeper may still wait for a reader.
bool WorkersGone(const Program& program, const ScopedMark& mark) {
  std::vector<pid_t> left = ProcessesWith(mark.text());
  std::erase(left, program.pid());
  if (const auto keeper = ChildNamed(program.pid(), "hvdrun-keeper")) {
    std::erase(left, *keeper);
  }
  return left.empty();
}

}  // namespace

TEST_CASE("a killed worker ends its job in time though nobody reads", "[e2e]") {
  const ScopedMark mark;
  TemporaryDirectory directory;
  Program program = StartFlood(mark, directory, {"--stop-grace-secs", "1"});
  WaitUntilStalled(program, directory);
  REQUIRE(::kill(WaitForPid(program, directory, 1), SIGKILL) == 0);
  CHECK(program.WaitUntil([&] { return WorkersGone(program, mark); }, 3s));
  // A user who has no patience with the reader ends hvdrun by TERM.
  if (program.running()) program.Signal(SIGTERM);
  CHECK(program.WaitUntil([&] { return !program.running(); }, kPatience));
  program.ReadOutput();
  const ProgramResult result = program.Wait();
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 137});
  CHECK(Contains(LastLine(result.err), "exit code 137"));
  CHECK(NoneLeft(mark.text(), 100ms));
}

TEST_CASE("TERM ends a job in time though nobody reads its output", "[e2e]") {
  for (const Pipes pipes : {Pipes::kTwo, Pipes::kOne}) {
    const ScopedMark mark;
    TemporaryDirectory directory;
    Program program =
        StartFlood(mark, directory, {"--stop-grace-secs", "1"}, pipes);
    WaitUntilStalled(program, directory);
    program.Signal(SIGTERM);
    CHECK(program.WaitUntil([&] { return WorkersGone(program, mark); }, 3s));
    CHECK(program.WaitUntil([&] { return !program.running(); }, kPatience));
    program.ReadOutput();
    const ProgramResult result = program.Wait();
    CHECK(result.status == ExitStatus{.code = 143});
    if (pipes == Pipes::kTwo) {
      CHECK(Contains(LastLine(result.err), "exit code 143"));
    }
    CHECK(NoneLeft(mark.text(), 100ms));
  }
}

TEST_CASE("USR1 reaches workers though nobody reads their output", "[e2e]") {
  const ScopedMark mark;
  TemporaryDirectory directory;
  Program program = StartFlood(mark, directory, {});
  WaitUntilStalled(program, directory);
  program.Signal(SIGUSR1);
  for (int rank = 0; rank < 3; ++rank) {
    INFO("rank " << rank);
    CHECK(program.WaitUntil(
        [&] {
          return ReadFile(directory / ("signals." + std::to_string(rank))) ==
                 "USR1\n";
        },
        3s));
  }
  program.Signal(SIGINT);
  program.ReadOutput();
  CHECK(program.Wait(10s).status == ExitStatus{.code = 130});
}

TEST_CASE("hvdrun's memory stays bounded while nobody reads", "[e2e]") {
  const ScopedMark mark;
  TemporaryDirectory directory;
  Program program = StartFlood(mark, directory, {"--stop-grace-secs", "1"});
  WaitUntilStalled(program, directory);
  program.WaitUntil([] { return false; }, 1s);
  // Far below what `yes` can write in that time.
  CHECK(PeakMemoryKb(program.pid()) > 0);
  CHECK(PeakMemoryKb(program.pid()) < 100'000);
  program.Signal(SIGTERM);
  program.ReadOutput();
  CHECK(program.Wait(10s).status == ExitStatus{.code = 143});
}

}  // namespace hvd::testing
