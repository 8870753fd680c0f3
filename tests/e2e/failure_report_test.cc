// A worker fails: the job ends in seconds, and one block on stderr says which
// was first, where, how and with what last words; the others are victims.
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

// Four workers, or `np`; $1 is the mark, $2 a directory to meet in.
std::vector<std::string> Job(const std::vector<std::string>& flags,
                             const std::string& script,
                             const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> words = flags;
  for (const std::string& word :
       {std::string("sh"), std::string("-c"), script, std::string("worker")}) {
    words.push_back(word);
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace

TEST_CASE("hvdrun ends a static job within seconds of its first failure",
          "[e2e]") {
  // Horovod #3060, #642; PyTorch #146371.
  const ScopedMark mark;
  const ProgramResult result =
      Hvdrun(Job({"-np", "4", "-H", "localhost:4"},
                 "[ $HOROVOD_RANK = 2 ] && exit 5; exec sleep 120"),
             Marked(mark));
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 5});
  CHECK(result.took < 5s);
  CHECK(Contains(result.err, "rank 2 on localhost exited with code 5"));
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("hvdrun names rank, host, pid and SIGKILL, and hints at memory",
          "[e2e]") {
  // DeepSpeed #4181; Horovod #1616, #609; PyTorch #175254.
  const ProgramResult result = Hvdrun(
      Job({"-np", "2"},
          "echo pid=$$; [ $HVD_RANK = 0 ] && exec sleep 60; kill -9 $$"));
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 128 + SIGKILL});
  CHECK(Contains(result.err, "rank 1 on localhost was killed by SIGKILL"));
  CHECK(Contains(result.err, "memory"));
  const auto pid = PidOfRank(result.out, 1);
  REQUIRE(pid);
  CHECK(Contains(result.err, std::to_string(*pid)));
}

TEST_CASE("hvdrun names SIGSEGV and says nothing of memory running out",
          "[e2e]") {
  const ProgramResult result = Hvdrun(
      Job({"-np", "2"},
          "[ $HVD_RANK = 0 ] && exec sleep 60; ulimit -c 0; kill -11 $$"));
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 128 + SIGSEGV});
  CHECK(Contains(result.err, "rank 1 on localhost was killed by SIGSEGV"));
  CHECK_FALSE(Contains(result.err, "memory"));
}

TEST_CASE("hvdrun tells the first failure with its last words from victims",
          "[e2e]") {
  // Accelerate #4139: four ranks fail, one is the cause.
  const ScopedMark mark;
  TemporaryDirectory directory;
  const ProgramResult result =
      Hvdrun(Job({"-np", "4", "--stop-grace-secs", "0.5"},
                 R"(D=$1
case $HVD_RANK in
  2) until [ -e $D/0 ] && [ -e $D/1 ] && [ -e $D/3 ]; do sleep 0.01; done
     echo REAL >&2; exit 7 ;;
  3) trap '' TERM ;;
  *) trap 'echo peer lost >&2; exit 1' TERM ;;
esac
touch $D/$HVD_RANK
while :; do sleep 0.05; done)",
                 {directory.path()}),
             Marked(mark));
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 7});
  CHECK(Count(result.err, "exited with code 7") <= 2);  // report and last line
  const std::size_t report =
      result.err.find("hvdrun: error: rank 2 on localhost ");
  REQUIRE(report != std::string::npos);
  const std::string block = result.err.substr(report);
  CHECK(Contains(block, "REAL"));
  CHECK(Contains(block, "ranks 0-1 exited with code 1 when told to stop"));
  CHECK(Contains(block, "rank 3 killed by hvdrun (SIGKILL)"));
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("hvdrun ends siblings that ignore every polite signal", "[e2e]") {
  // PyTorch #76287.
  const ScopedMark mark;
  TemporaryDirectory directory;
  const ProgramResult result =
      Hvdrun(Job({"-np", "4", "--stop-grace-secs", "1"},
                 R"(if [ $HVD_RANK = 0 ]; then
  until [ -e $1/1 ] && [ -e $1/2 ] && [ -e $1/3 ]; do sleep 0.01; done
  exit 1
fi
trap '' TERM INT HUP; touch $1/$HVD_RANK; while :; do sleep 1; done)",
                 {directory.path()}),
             Marked(mark));
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 1});
  CHECK(result.took > 1s);
  CHECK(result.took < 4s);
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("hvdrun ends a job whose worker fails before it joins", "[e2e]") {
  // Open MPI #4543: rank 0 waits in the library for a rank that never came.
  const ScopedMark mark;
  TemporaryDirectory directory;
  const ProgramResult result = Hvdrun(
      Job({"-np", "2"},
          R"sh(if [ $HVD_RANK = 0 ]; then echo $$ >$1/pid; exec $2 --steps 5; fi
until [ -s $1/pid ] && [ "$(cat /proc/$(cat $1/pid)/comm)" = ring ]
do sleep 0.01; done
exit 4)sh",
          {directory.path(), Bin("ring")}),
      Marked(mark));
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 4});
  CHECK(result.took < 10s);
  CHECK(Contains(result.err, "rank 1 on localhost exited with code 4"));
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("hvdrun ends a job whose worker leaves with 0 without joining",
          "[e2e]") {
  // Not a success: rank 0 would wait for rank 1 for ever.
  const ProgramResult result =
      Hvdrun(Job({"-np", "2"}, "[ $HVD_RANK = 1 ] && exit 0; exec $1 --steps 5",
                 {Bin("ring")}));
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 125});
  CHECK(result.took < 10s);
  CHECK(Contains(result.err, "rank 1"));
  CHECK(Contains(result.err, "without joining"));
}

TEST_CASE("hvdrun names the killed rank, not those that lost their peer",
          "[e2e]") {
  // The survivors' CommError and exit 1 come within milliseconds.
  const ScopedMark mark;
  Program program(
      HvdrunCommand(Job({"-np", "4"}, "echo pid=$$; exec $1 --steps 100000",
                        {Bin("ring")})),
      Marked(mark));
  REQUIRE(program.WaitForOutput("step=3 "));
  const auto victim = PidOfRank(program.out(), 2);
  REQUIRE(victim);
  REQUIRE(::kill(*victim, SIGKILL) == 0);
  const ProgramResult result = program.Wait();
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 128 + SIGKILL});
  CHECK(Contains(result.err, "rank 2 on localhost was killed by SIGKILL"));
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("hvdrun names the rank that left though it is the last to end",
          "[e2e]") {
  const ProgramResult result = Hvdrun({"-np", "4", E2eWorker(), "last", "7"});
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 7});
  CHECK(Contains(result.err, "rank 1 on localhost"));
  CHECK(Contains(result.err, "exited with code 7"));
}

TEST_CASE("a worker's exit decides, not the end of its pipes", "[e2e]") {
  // A grandchild holds stdout and stderr open and ignores that its parent died.
  for (const int code : {0, 3}) {
    const ScopedMark mark;
    const ProgramResult result =
        Hvdrun(Job({"-np", "2", "--stop-grace-secs", "1"},
                   "sleep 600 & exit " + std::to_string(code)),
               Marked(mark));
    INFO(result.err);
    CHECK(result.status == ExitStatus{.code = code});
    CHECK(result.took < 3s);
    CHECK(NoneLeft(mark.text(), 1s));
  }
}

TEST_CASE("the last line on stderr says which rule gave the exit code",
          "[e2e]") {
  struct Case {
    std::vector<std::string> words;
    int code;
    std::vector<std::string> said;
  };
  TemporaryDirectory directory;
  const std::string plain = directory.Write("plain.txt", "text\n", 0644);
  const std::vector<Case> cases = {
      {{"-np", "2", "true"}, 0, {"0", "all"}},
      {{"-np", "1", "sh", "-c", "exit 42"}, 42, {"42", "rank 0"}},
      {{"-np", "1", "sh", "-c", "kill -TERM $$"}, 143, {"143", "SIGTERM"}},
      {{"-np", "1", "no-such-program"}, 127, {"127", "not found"}},
      {{"-np", "1", plain}, 126, {"126"}},
      {{"-np", "1", "--timeout", "0.2", "sleep", "9"},
       124,
       {"124", "--timeout"}}};
  for (const Case& one : cases) {
    const ProgramResult result = Hvdrun(one.words);
    const std::string last = LastLine(result.err);
    INFO("exit code " << one.code << "\n" << result.err);
    CHECK(result.status == ExitStatus{.code = one.code});
    CHECK(last.starts_with("hvdrun: "));
    for (const std::string& word : one.said) {
      INFO(word);
      CHECK(Contains(last, word));
    }
  }
}

}  // namespace hvd::testing
