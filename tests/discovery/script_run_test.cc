#include "discovery/script_run.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <optional>

#include "tests/discovery/pump.h"
#include "tests/support/processes.h"
#include "tests/support/subreaper.h"

using namespace std::chrono_literals;

namespace hvd {

using testing::ChildrenOf;
using testing::NoneLeft;
using testing::ProcessesWith;
using testing::ProcessState;
using testing::PumpUntil;
using testing::ScopedMark;
using testing::Subreaper;

namespace {

constexpr const char* kForever = "exec sleep 1000";

// One run, with the loop it needs.
struct Run {
  explicit Run(const std::string& command, Duration timeout = 60s) {
    auto started = ScriptRun::Start(
        loop,
        {.command = command,
         .env = {{"PATH", "/usr/bin:/bin"}, {"MARK", mark.text()}},
         .timeout = timeout},
        leftovers, [this](ScriptEnd e) { end = std::move(e); });
    REQUIRE(started.ok());
    CHECK_FALSE(end);
    run = std::move(started).value();
  }

  const ScriptEnd& Wait() {
    REQUIRE(loop.RunUntil([this] { return end.has_value(); }, 20s));
    return *end;
  }

  // Pumped until as many processes of the run are there.
  bool Has(std::size_t processes) {
    return PumpUntil(
        loop, [&] { return ProcessesWith(mark.text()).size() == processes; },
        20s);
  }

  ScopedMark mark;
  EventLoop loop;
  std::optional<ScriptEnd> end;
  KilledProcesses leftovers{loop};
  std::unique_ptr<ScriptRun> run;
};

// Without its loop.
void WaitForExit(const Run& run) {
  while (ProcessState(run.run->pid()) != 'Z') ::poll(nullptr, 0, 5);
}

}  // namespace

TEST_CASE("ScriptRun tells stdout, stderr and exit status",
          "[discovery][process]") {
  Run run("echo out; echo err >&2; exit 3");
  const ScriptEnd& end = run.Wait();
  CHECK(end.how == ScriptEnding::kExited);
  CHECK(end.status == ExitStatus{3, 0});
  CHECK(end.output == "out\n");
  CHECK(end.errors == "err\n");
  CHECK(run.run->gone());
  CHECK(ChildrenOf(::getpid()).empty());
}

TEST_CASE("ScriptRun tells the signal that ended a script",
          "[discovery][process]") {
  Run run("kill -SEGV $$");
  CHECK(run.Wait().status == ExitStatus{0, SIGSEGV});
}

TEST_CASE("ScriptRun gives a script a session of its own and no stdin",
          "[discovery][process]") {
  Run run(
      "read p c s x g sid r </proc/$$/stat; [ $sid = $$ ] && echo leader; "
      "readlink /proc/$$/fd/0");
  CHECK(run.Wait().output == "leader\n/dev/null\n");
}

TEST_CASE("ScriptRun lets a script inherit no descriptor but 0, 1 and 2",
          "[discovery][process]") {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd leak(::fcntl(null.get(), F_DUPFD, 77));  // no close-on-exec
  Run run("for f in /proc/$$/fd/*; do echo ${f##*/}; done");
  const std::string& output = run.Wait().output;
  CHECK(output.find("0\n1\n2\n") == 0);
  CHECK(output.find("77") == std::string::npos);
}

TEST_CASE("ScriptRun gives a script the environment it was given and no more",
          "[discovery][process]") {
  // sh itself adds PWD.
  Run run("env -u PWD | sort");
  CHECK(run.Wait().output ==
        "MARK=" + run.mark.text() + "\nPATH=/usr/bin:/bin\n");
}

TEST_CASE("ScriptRun leaves the loop free while a script runs",
          "[discovery][process]") {
  Run run(kForever);
  bool ticked = false;
  const auto timer = run.loop.After(5ms, [&] { ticked = true; });
  CHECK(run.loop.RunUntil([&] { return ticked; }, 20s));
  CHECK_FALSE(run.end);
}

TEST_CASE("ScriptRun kills a script and its children when its time is over",
          "[discovery][process]") {
  Run run("sleep 1000 & echo asking >&2; sleep 1000", 100ms);
  const ScriptEnd& end = run.Wait();
  CHECK(end.how == ScriptEnding::kTimedOut);
  CHECK(end.errors == "asking\n");
  CHECK(NoneLeft(run.mark.text(), 5s));
  CHECK(run.loop.RunUntil([&] { return run.run->gone(); }, 5s));
}

TEST_CASE("ScriptRun lets a script count that ended while hvdrun was stopped",
          "[discovery][process]") {
  Run run("echo a", 20ms);
  const Instant late = run.loop.Now() + 50ms;
  WaitForExit(run);
  while (run.loop.Now() < late) ::poll(nullptr, 0, 5);
  CHECK(run.Wait().how == ScriptEnding::kExited);
  CHECK(run.end->output == "a\n");
}

TEST_CASE("ScriptRun kills a script that prints more than a megabyte at once",
          "[discovery][process]") {
  Run run("exec yes host", 1h);
  const ScriptEnd& end = run.Wait();
  CHECK(end.how == ScriptEnding::kTooMuchOutput);
  CHECK(end.output.size() < 2 * kMaxScriptOutput);
  CHECK(NoneLeft(run.mark.text(), 5s));
}

TEST_CASE("ScriptRun tells of too much output that an ended script has left",
          "[discovery][process]") {
  // The pipe is read until it is empty; the limit counts for all of it.
  Run run("yes host | head -c 1048577");
  CHECK(run.Wait().how == ScriptEnding::kTooMuchOutput);
  Run enough("yes host | head -c 1048576");
  CHECK(enough.Wait().how == ScriptEnding::kExited);
  CHECK(enough.end->output.size() == kMaxScriptOutput);
}

TEST_CASE("ScriptRun keeps the end of a long stderr and never lets it fill up",
          "[discovery][process]") {
  Run run("yes chatter | head -c 3000000 >&2; echo last words >&2; exit 1");
  const std::string& errors = run.Wait().errors;
  CHECK(errors.size() == kMaxScriptErrors);
  CHECK(errors.ends_with("chatter\nlast words\n"));
}

TEST_CASE("ScriptRun reads all that an ended script has left in the pipe",
          "[discovery][process]") {
  Run run("head -c 60000 /dev/zero");
  WaitForExit(run);
  CHECK(run.Wait().output.size() == 60'000);
}

TEST_CASE("ScriptRun takes what a script printed before it closed its stdout",
          "[discovery][process]") {
  Run run("echo a; exec >&- 2>&-; exit 0");
  CHECK(run.Wait().output == "a\n");
}

TEST_CASE("ScriptRun ends with the script though a child holds its stdout open",
          "[discovery][process]") {
  Run run("sleep 1000 & echo a; exit 0", 1h);
  const ScriptEnd& end = run.Wait();
  CHECK(end.how == ScriptEnding::kExited);
  CHECK(end.output == "a\n");
  CHECK(NoneLeft(run.mark.text(), 5s));
}

TEST_CASE("ScriptRun ends with the script though a child floods its stdout",
          "[discovery][process]") {
  // In a session of its own, where it is not looked for: it goes on writing
  // until nobody can read it any more.
  Run run(
      "trap 'exit 0' USR1; setsid sh -c \"yes '#' & kill -USR1 $$; wait\" & "
      "wait",
      1h);
  CHECK(run.Wait().how != ScriptEnding::kTimedOut);
  CHECK(NoneLeft(run.mark.text(), 5s));
}

TEST_CASE("ScriptRun reaps what a script has left in its session",
          "[discovery][process]") {
  const Subreaper subreaper;
  Run run("(sleep 1000 & sleep 1000) & sleep 1000 & exit");
  run.Wait();
  CHECK(run.loop.RunUntil([&] { return run.leftovers.empty(); }, 5s));
  CHECK(NoneLeft(run.mark.text(), 5s));
  CHECK(ChildrenOf(::getpid()).empty());
}

TEST_CASE("ScriptRun reaps the children of a script that it had to kill",
          "[discovery][process]") {
  const Subreaper subreaper;
  Run run("(sleep 1000 & sleep 1000) & sleep 1000", 50ms);
  CHECK(run.Wait().how == ScriptEnding::kTimedOut);
  CHECK(run.loop.RunUntil(
      [&] { return run.run->gone() && run.leftovers.empty(); }, 5s));
  CHECK(ChildrenOf(::getpid()).empty());
}

TEST_CASE("destroying a ScriptRun kills and reaps its script and children",
          "[discovery][process]") {
  const Subreaper subreaper;
  {
    // With -m, a process group a job; dash would want a terminal for it.
    Run run("exec bash -mc 'sleep 1000 & sleep 1000'");
    REQUIRE(run.Has(3));
    run.run.reset();
    CHECK(ProcessesWith(run.mark.text()).empty());
    CHECK_FALSE(run.loop.RunUntil([&] { return run.end.has_value(); }, 20ms));
  }
  CHECK(ChildrenOf(::getpid()).empty());
}

TEST_CASE("ScriptRun may be destroyed by its own handler",
          "[discovery][process]") {
  EventLoop loop;
  KilledProcesses leftovers(loop);
  std::unique_ptr<ScriptRun> run;
  bool ended = false;
  const std::string command = GENERATE("echo a", "exec sleep 1000");
  auto started = ScriptRun::Start(loop,
                                  {.command = command,
                                   .env = {{"PATH", "/usr/bin:/bin"}},
                                   .timeout = 100ms},
                                  leftovers, [&](const ScriptEnd&) {
                                    run.reset();
                                    ended = true;
                                  });
  REQUIRE(started.ok());
  run = std::move(started).value();
  CHECK(loop.RunUntil([&] { return ended; }, 20s));
  CHECK(ChildrenOf(::getpid()).empty());
}

TEST_CASE("ScriptRun fails to start when the environment does not fit",
          "[discovery][process]") {
  EventLoop loop;
  KilledProcesses leftovers(loop);
  const auto run = ScriptRun::Start(
      loop, {.command = "true", .env = {{"BIG", std::string(200'000, 'x')}}},
      leftovers, [](const ScriptEnd&) {});
  REQUIRE_FALSE(run.ok());
  CHECK(run.error().message() == "/bin/sh: Argument list too long");
}

}  // namespace hvd
