// hvdrun in a shell: Ctrl-Z and fg, in the background, without a terminal,
// with closed streams.
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

// An interactive shell with job control, at a terminal of its own.
Program InteractiveShell(const ScopedMark& mark) {
  ProgramOptions options;
  options.env = {{"PS1", "ready> "}, {"HISTFILE", ""}, {"TERM", "dumb"}};
  options.terminal = true;
  return Program({"bash", "--norc", "--noprofile", "-i"},
                 Marked(mark, std::move(options)));
}

// hvdrun with two workers that print their pids and end when `go` exists. Not
// dash: it starts commands by vfork, and a parent whose child is stopped then
// is not stopped itself but waits for it (state D).
std::string CommandLine(const std::string& go) {
  return Bin("hvdrun") + " -np 2 bash -c 'echo pid=$$; until [ -e " + go +
         " ]; do sleep 0.02; done; echo bye'";
}

std::vector<pid_t> WorkerPids(Program& program) {
  const bool there = program.WaitUntil(
      [&] {
        return PidOfRank(program.out(), 0) && PidOfRank(program.out(), 1);
      },
      10s);
  INFO(program.out());
  REQUIRE(there);
  return {*PidOfRank(program.out(), 0), *PidOfRank(program.out(), 1)};
}

// All of them get to be stopped, or to be not.
bool AllGet(Program& program, const std::vector<pid_t>& pids, bool stopped) {
  return program.WaitUntil(
      [&] {
        for (const pid_t pid : pids) {
          if ((ProcessState(pid) == 'T') != stopped) return false;
        }
        return true;
      },
      5s);
}

}  // namespace

TEST_CASE("Ctrl-Z stops the workers too and fg lets all go on", "[e2e]") {
  const ScopedMark mark;
  TemporaryDirectory directory;
  Program shell = InteractiveShell(mark);
  shell.Type(CommandLine(directory / "go") + "; echo status=$?\n");
  const std::vector<pid_t> workers = WorkerPids(shell);
  shell.Type("\x1a");
  REQUIRE(shell.WaitForOutput("Stopped", 5s));
  CHECK(AllGet(shell, workers, true));
  shell.Type("fg; echo status=$?\n");
  CHECK(AllGet(shell, workers, false));
  directory.Write("go", "");
  const bool ended = shell.WaitForOutput("status=0", 10s);
  INFO(shell.out());
  CHECK(ended);
  CHECK(Count(shell.out(), "<stdout>:bye") == 2);
}

TEST_CASE("a job stopped with Ctrl-Z goes on in the background after bg",
          "[e2e]") {
  const ScopedMark mark;
  TemporaryDirectory directory;
  Program shell = InteractiveShell(mark);
  shell.Type(CommandLine(directory / "go") + "\n");
  const std::vector<pid_t> workers = WorkerPids(shell);
  shell.Type("\x1a");
  REQUIRE(shell.WaitForOutput("Stopped", 5s));
  REQUIRE(AllGet(shell, workers, true));
  shell.Type("bg\n");
  CHECK(AllGet(shell, workers, false));
  directory.Write("go", "");
  shell.Type("wait; echo status=$?\n");
  const bool ended = shell.WaitForOutput("status=0", 10s);
  INFO(shell.out());
  CHECK(ended);
}

TEST_CASE("a stopped job ends on TERM once it is continued", "[e2e]") {
  const ScopedMark mark;
  TemporaryDirectory directory;
  Program shell = InteractiveShell(mark);
  shell.Type(CommandLine(directory / "never") + "\n");
  const std::vector<pid_t> workers = WorkerPids(shell);
  shell.Type("\x1a");
  REQUIRE(shell.WaitForOutput("Stopped", 5s));
  REQUIRE(AllGet(shell, workers, true));
  // The shell sends TERM and then CONT.
  shell.Type("kill %1\n");
  const bool ended = shell.WaitForOutput("hvdrun: exit code 143", 10s);
  INFO(shell.out());
  CHECK(ended);
  for (const pid_t worker : workers) CHECK(ProcessState(worker) == '\0');
}

TEST_CASE("a background job of an interactive shell is not stopped by stdin",
          "[e2e]") {
  // Reading the terminal from the background would raise SIGTTIN.
  const ScopedMark mark;
  TemporaryDirectory directory;
  Program shell = InteractiveShell(mark);
  shell.Type(CommandLine(directory / "go") + " &\n");
  const std::vector<pid_t> workers = WorkerPids(shell);
  shell.Type("echo typed-$((40+2))\n");  // belongs to the shell
  CHECK(shell.WaitForOutput("typed-42", 5s));
  CHECK(AllGet(shell, workers, false));
  directory.Write("go", "");
  shell.Type("wait %1; echo status=$?\n");
  const bool ended = shell.WaitForOutput("status=0", 10s);
  INFO(shell.out());
  CHECK(ended);
  CHECK_FALSE(Contains(shell.out(), "Stopped"));
}

TEST_CASE("a background job of a script runs on when Ctrl-C ends the script",
          "[e2e]") {
  // Horovod #1821: such a shell starts it with INT ignored.
  const ScopedMark mark;
  TemporaryDirectory directory;
  const std::string out = directory / "out";
  const std::string script =
      directory.Write("script.sh", CommandLine(directory / "go") + " >" + out +
                                       " 2>&1 &\nwait\n");
  ProgramOptions options;
  options.terminal = true;
  // The login shell lives on, as a user's does.
  Program shell({"sh", "-c", "trap : INT; sh " + script + "; echo over; cat"},
                Marked(mark, std::move(options)));
  REQUIRE(
      shell.WaitUntil([&] { return Count(ReadFile(out), "pid=") == 2; }, 10s));
  shell.Type("\x03");
  REQUIRE(shell.WaitForOutput("over", 5s));
  directory.Write("go", "");
  const bool finished = shell.WaitUntil(
      [&] { return Contains(ReadFile(out), "exit code 0"); }, 5s);
  INFO(ReadFile(out));
  CHECK(finished);
  CHECK(Count(ReadFile(out), "<stdout>:bye") == 2);
}

TEST_CASE("hvdrun in a session of its own outlives the terminal", "[e2e]") {
  // Horovod #1821.
  const ScopedMark mark;
  TemporaryDirectory directory;
  const std::string out = directory / "out";
  const std::string code = directory / "code";
  ProgramOptions options;
  options.terminal = true;
  Program shell({"sh", "-c",
                 "setsid sh -c '\"$0\" \"$@\"; echo code=$? >" + code + "' " +
                     CommandLine(directory / "go") + " </dev/null >" + out +
                     " 2>&1 & wait"},
                Marked(mark, std::move(options)));
  REQUIRE(
      shell.WaitUntil([&] { return Count(ReadFile(out), "pid=") == 2; }, 10s));
  shell.HangUp();
  shell.Wait(5s);
  directory.Write("go", "");
  CHECK(NoneLeft(mark.text(), 5s));
  INFO(ReadFile(out));
  CHECK(ReadFile(code) == "code=0\n");
  CHECK(Count(ReadFile(out), "bye") == 2);
  CHECK_FALSE(Contains(ReadFile(out), "tty"));
}

TEST_CASE("hvdrun ends its workers with 129 when its terminal goes away",
          "[e2e]") {
  const ScopedMark mark;
  ProgramOptions options;
  options.terminal = true;
  Program program(HvdrunCommand({"-np", "2", "--stop-grace-secs", "1", "sh",
                                 "-c", "echo pid=$$; exec sleep 600"}),
                  Marked(mark, std::move(options)));
  WorkerPids(program);
  program.HangUp();
  CHECK(program.Wait(5s).status == ExitStatus{.code = 129});
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("hvdrun runs with stdin, or stdin and stdout, closed", "[e2e]") {
  for (const bool stdout_closed : {false, true}) {
    TemporaryDirectory directory;
    ProgramOptions options;
    options.stdin_closed = true;
    options.stdout_closed = stdout_closed;
    const ProgramResult result =
        Hvdrun({"-np", "2", "sh", "-c",
                "echo hello; echo oops >&2; cat; ls -l /proc/self/fd >" +
                    (directory / "fds") + "; exit 3"},
               options);
    INFO(result.err);
    CHECK(result.status == ExitStatus{.code = 3});
    CHECK(Contains(result.err, "<stderr>:oops"));
    CHECK(Contains(result.out, "<stdout>:hello") != stdout_closed);
    // Nothing of ours became a worker's descriptor.
    CHECK_FALSE(Contains(ReadFile(directory / "fds"), "socket:"));
  }
}

TEST_CASE("hvdrun has no terminal to ask for and asks for none", "[e2e]") {
  const ScopedMark mark;
  const ProgramResult result = Hvdrun(
      {"-np", "2", Bin("ring"), "--steps", "2", "--rate", "0"}, Marked(mark));
  INFO(result.err);
  CHECK(result.status.success());
  CHECK_FALSE(Contains(result.err, "tty"));
}

}  // namespace hvd::testing
