// hvdrun's own exit code: the worker's, a signal's, or the shell's conventions
// for a command that can't be run.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/process.h"
#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

// Two workers: rank 0 exits with 0, rank 1 does what `script` says.
std::vector<std::string> Rank1Does(const std::string& script) {
  return HvdrunCommand(
      {"-np", "2", "sh", "-c", "[ \"$HVD_RANK\" = 1 ] || exit 0; " + script});
}

// Some at a time: most of a run is waiting.
std::vector<ProgramResult> RunAll(const std::vector<std::string>& scripts) {
  constexpr std::size_t kAtATime = 4;
  std::vector<ProgramResult> results;
  std::vector<std::unique_ptr<Program>> running;
  for (std::size_t i = 0; i < scripts.size() + kAtATime; ++i) {
    if (i < scripts.size()) {
      running.push_back(std::make_unique<Program>(Rank1Does(scripts[i])));
    } else {
      running.push_back(nullptr);
    }
    if (i < kAtATime) continue;
    results.push_back(running[i - kAtATime]->Wait());
    running[i - kAtATime].reset();
  }
  return results;
}

// SIGKILL to SIGSYS and the real-time ones, without those that stop, continue
// or are ignored by default.
std::vector<int> FatalSignals() {
  std::vector<int> fatal;
  for (int signo = 1; signo <= SIGRTMAX; ++signo) {
    const bool harmless = signo == SIGCHLD || signo == SIGCONT ||
                          signo == SIGSTOP || signo == SIGTSTP ||
                          signo == SIGTTIN || signo == SIGTTOU ||
                          signo == SIGURG || signo == SIGWINCH;
    // 32 and 33 are the C library's own.
    if (!harmless && signo != 32 && signo != 33) fatal.push_back(signo);
  }
  return fatal;
}

}  // namespace

TEST_CASE("hvdrun exits with the worker's own code, whatever it is",
          "[e2e][exit]") {
  std::vector<std::string> scripts;
  for (int code = 0; code <= 255; ++code) {
    scripts.push_back("exit " + std::to_string(code));
  }
  const std::vector<ProgramResult> results = RunAll(scripts);
  REQUIRE(results.size() == 256);
  for (int code = 0; code <= 255; ++code) {
    const ProgramResult& result = results[static_cast<std::size_t>(code)];
    INFO("worker's code " << code << "\n" << result.err);
    CHECK(result.status == ExitStatus{.code = code});
    CHECK(Contains(LastLine(result.err), "exit code " + std::to_string(code)));
  }
}

TEST_CASE("hvdrun exits with 128 + N when a worker dies of signal N",
          "[e2e][exit]") {
  const std::vector<int> signals = FatalSignals();
  std::vector<std::string> scripts;
  for (const int signo : signals) {
    scripts.push_back("ulimit -c 0; kill -" + std::to_string(signo) +
                      " $$; while :; do sleep 1; done");
  }
  const std::vector<ProgramResult> results = RunAll(scripts);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    INFO("signal " << signals[i] << "\n" << results[i].err);
    CHECK(results[i].status == ExitStatus{.code = 128 + signals[i]});
    CHECK(Contains(LastLine(results[i].err), SignalName(signals[i])));
  }
}

TEST_CASE("hvdrun exits with 131 for SIGQUIT whether or not it dumped core",
          "[e2e][exit]") {
  TemporaryDirectory directory;
  const ProgramResult result =
      RunProgram(Rank1Does("ulimit -c $(ulimit -Hc); kill -QUIT $$; sleep 60"),
                 {.cwd = directory.path()});
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 128 + SIGQUIT});
}

TEST_CASE("hvdrun exits with 127 for a command that is not found, named once",
          "[e2e][exit]") {
  for (const char* command : {"no-such-program-5", "/no/such/program-5"}) {
    const ProgramResult result = Hvdrun({"-np", "8", command, "--flag"});
    INFO(result.err);
    CHECK(result.status == ExitStatus{.code = 127});
    CHECK(Count(result.err, command) >= 1);
    CHECK(Lines(result.err).size() <= 4);  // not a line a rank
    CHECK(result.out.empty());
  }
}

TEST_CASE("hvdrun exits with 126 for a command that can't be run",
          "[e2e][exit]") {
  TemporaryDirectory directory;
  const std::string file = directory.Write("plain.txt", "echo hi\n", 0644);
  for (const std::string& command : {file, directory.path()}) {
    const ProgramResult result = Hvdrun({"-np", "2", command});
    INFO(result.err);
    CHECK(result.status == ExitStatus{.code = 126});
    CHECK(Contains(result.err, command));
    CHECK(result.out.empty());
  }
}

TEST_CASE("hvdrun exits with 126 for a program that this user may not run",
          "[e2e][exit]") {
  if (::getuid() != 0) return;  // another user's file is needed
  TemporaryDirectory directory;
  const std::string file =
      directory.Write("secret.sh", "#!/bin/sh\necho hi\n", 0700);
  const ProgramResult result =
      Hvdrun({"-np", "1", file}, {.cwd = "/", .uid = 65534});
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 126});
}

TEST_CASE("hvdrun runs a script without an interpreter line as a shell would",
          "[e2e][exit]") {
  TemporaryDirectory directory;
  const std::string script =
      directory.Write("train", "echo \"$1 $2\"\nexit 9\n", 0755);
  const ProgramResult result = Hvdrun({"-np", "1", script, "a b", "c"});
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 9});
  CHECK(result.out == "[0]<stdout>:a b c\n");
}

TEST_CASE("hvdrun exits with 125 for words it does not understand",
          "[e2e][exit]") {
  const std::vector<std::vector<std::string>> lines = {
      {},
      {"-np", "2"},
      {"-np"},
      {"-np", "0", "true"},
      {"-np", "x", "true"},
      {"-np", "2.5", "true"},
      {"-np", "99999999999999999999", "true"},
      {"--no-such-flag", "true"},
      {"-np", "1", "--timeout", "soon", "true"},
      {"-np", "1", "--timeout", "-1", "true"},
      {"-np", "1", "--output", "colour", "true"},
      {"-np", "1", "--output-files", "some", "true"},
      {"-np", "1", "--rank-env", "pvm", "true"},
      {"-np", "1", "--stdin", "first", "true"},
      {"-np", "1", "--log-level", "LOUD", "true"},
      {"-np", "1", "--report", "/no/such/directory/report.json", "true"},
      {"-np", "1", "--hostfile", "/no/such/hostfile", "true"}};
  for (const std::vector<std::string>& words : lines) {
    const ProgramResult result = Hvdrun(words);
    std::string shown;
    for (const std::string& word : words) shown += word + ' ';
    INFO("hvdrun " << shown << '\n' << result.err);
    CHECK(result.status == ExitStatus{.code = 125});
    CHECK(result.err.starts_with("hvdrun: error: "));
    CHECK(Lines(result.err).size() <= 3);  // an error, a hint, the rule
    CHECK(result.out.empty());
  }
}

TEST_CASE("hvdrun names the nearest flag when it does not know one",
          "[e2e][exit]") {
  const std::vector<std::pair<std::string, std::string>> near = {
      {"--hostfilx", "--hostfile"},
      {"--num-procz", "--num-proc"},
      {"--stop-grace-seconds", "--stop-grace-secs"},
      {"--ouput-filname", "--output-filename"}};
  for (const auto& [wrong, right] : near) {
    const ProgramResult result = Hvdrun({wrong, "1", "true"});
    INFO(wrong << '\n' << result.err);
    CHECK(result.status == ExitStatus{.code = 125});
    CHECK(Contains(result.err, "did you mean " + right + "?"));
  }
}

TEST_CASE("hvdrun never parses the words behind the command", "[e2e][exit]") {
  const ProgramResult result = Hvdrun(
      {"-np", "1", "printf", "%s|", "-np", "7", "--help", "-H", "nowhere:3",
       "--timeout=1", "--no-such-flag", "--", "-v", "a b", "", "$HOME", "'"});
  INFO(result.err);
  CHECK(result.status.success());
  CHECK(Contains(result.out,
                 "-np|7|--help|-H|nowhere:3|--timeout=1|--no-such-flag|--|-v|"
                 "a b||$HOME|'|"));
}

TEST_CASE("hvdrun --help has the table of exit codes", "[e2e][exit]") {
  const ProgramResult result = Hvdrun({"--help"});
  CHECK(result.status.success());
  for (const char* code :
       {"124", "125", "126", "127", "128", "129", "130", "143"}) {
    INFO(code);
    CHECK(Contains(result.out, code));
  }
}

}  // namespace hvd::testing
