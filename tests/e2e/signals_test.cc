// Signals to hvdrun: stop signals end the job in the order the user may count
// on, USR1 and USR2 pass through, and nothing is left behind.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

// Says each signal it gets and lives on; so do no helpers of its own.
constexpr const char* kStubborn =
    "for s in INT TERM HUP; do trap \"echo got $s\" $s; done; echo up; "
    "while :; do sleep 0.02; done";
// Ends by itself on the first signal, as most programs do.
constexpr const char* kPlain = "echo up; exec sleep 600";

Program Start(const ScopedMark& mark, const std::vector<std::string>& flags,
              const std::string& script, ProgramOptions options = {}) {
  std::vector<std::string> words{"-np", "2"};
  words.insert(words.end(), flags.begin(), flags.end());
  for (const std::string& word : {std::string("sh"), std::string("-c"), script})
    words.push_back(word);
  return Program(HvdrunCommand(std::move(words)),
                 Marked(mark, std::move(options)));
}

// Both ranks have printed `text` this many times.
bool BothPrinted(Program& program, const std::string& text,
                 std::size_t times = 1) {
  const bool printed = program.WaitUntil(
      [&] {
        return Count(program.out(), "[0]<stdout>:" + text) >= times &&
               Count(program.out(), "[1]<stdout>:" + text) >= times;
      },
      10s);
  INFO("waited for " << text << "\n" << program.out() << program.err());
  CHECK(printed);
  return printed;
}

void Pause(Program& program, std::chrono::milliseconds time) {
  program.WaitUntil([] { return false; }, time);
}

}  // namespace

TEST_CASE("hvdrun forwards the signal it got first, then TERM, then KILL",
          "[e2e]") {
  // Horovod #1903, PRRTE #402: a checkpoint is saved in an interrupt handler.
  const ScopedMark mark;
  Program program = Start(mark, {"--stop-grace-secs", "1"}, kStubborn);
  REQUIRE(BothPrinted(program, "up"));
  program.Signal(SIGINT);
  const ProgramResult result = program.Wait(10s);
  INFO(result.out << result.err);
  CHECK(result.status == ExitStatus{.code = 130});
  for (const char* rank : {"[0]<stdout>:", "[1]<stdout>:"}) {
    const auto got = LinesOf(result.out, rank);
    CHECK(got == std::vector<std::string>{"up", "got INT", "got TERM"});
  }
  CHECK(Contains(LastLine(result.err), "SIGINT"));
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("hvdrun ends with 130, 143 or 129 after INT, TERM or HUP", "[e2e]") {
  const std::vector<std::pair<int, int>> cases = {
      {SIGINT, 130}, {SIGTERM, 143}, {SIGHUP, 129}};
  for (const auto& [signo, code] : cases) {
    const ScopedMark mark;
    Program program = Start(mark, {}, kPlain);
    REQUIRE(BothPrinted(program, "up"));
    program.Signal(signo);
    const ProgramResult result = program.Wait(10s);
    INFO(result.err);
    CHECK(result.status == ExitStatus{.code = code});
    CHECK(Contains(LastLine(result.err), SignalName(signo)));
    CHECK(NoneLeft(mark.text(), 1s));
  }
}

TEST_CASE("hvdrun stopped by a signal before its workers run leaves none",
          "[e2e]") {
  const ScopedMark mark;
  Program program = Start(mark, {"--stop-grace-secs", "1"}, kPlain);
  // It runs our code once it has blocked the signal.
  program.WaitUntil(
      [&] { return ChildNamed(program.pid(), "hvdrun-keeper").has_value(); },
      5s);
  program.Signal(SIGTERM);
  const ProgramResult result = program.Wait(10s);
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 143});
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("hvdrun ends on INT while a name server keeps it waiting", "[e2e]") {
  if (::geteuid() != 0) {
    WARN("needs root: a name server of its own");
    return;
  }
  // It takes questions and never answers.
  const UniqueFd server(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(53);
  REQUIRE(::inet_pton(AF_INET, "127.0.0.77", &address.sin_addr) == 1);
  REQUIRE(::bind(server.get(), reinterpret_cast<const sockaddr*>(&address),
                 sizeof address) == 0);
  TemporaryDirectory directory;
  const std::string file =
      directory.Write("resolv.conf", "nameserver 127.0.0.77\n");
  Program program({"unshare", "-m", "sh", "-c",
                   R"(mount --bind "$0" /etc/resolv.conf && exec "$@")", file,
                   Bin("hvdrun"), "-np", "1", "-H", "slow.example:1", "true"});
  char byte = 0;
  REQUIRE(program.WaitUntil(
      [&] { return ::recv(server.get(), &byte, 1, MSG_DONTWAIT) > 0; }, 10s));
  program.Signal(SIGUSR1);  // nobody to forward it to
  Pause(program, 50ms);
  REQUIRE(program.running());
  program.Signal(SIGINT);
  const ProgramResult result = program.Wait(2s);
  CHECK(result.status == ExitStatus{.code = 130});
  CHECK(LastLine(result.err).starts_with("hvdrun: exit code 130: "));
}

TEST_CASE("Ctrl-C at a terminal reaches the workers as INT", "[e2e]") {
  const ScopedMark mark;
  Program program =
      Start(mark, {"--stop-grace-secs", "1"}, kStubborn, {.terminal = true});
  REQUIRE(BothPrinted(program, "up"));
  program.Type("\x03");
  const ProgramResult result = program.Wait(10s);
  INFO(result.out);
  CHECK(result.status == ExitStatus{.code = 130});
  const std::size_t interrupted = result.out.find("[0]<stdout>:got INT");
  REQUIRE(interrupted != std::string::npos);
  CHECK(result.out.find("[0]<stdout>:got TERM") > interrupted);
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("a second Ctrl-C shortens the grace and skips no clean-up", "[e2e]") {
  // Open MPI #8672, PRRTE #943.
  const ScopedMark mark;
  Program program =
      Start(mark, {"--stop-grace-secs", "30"}, kStubborn, {.terminal = true});
  REQUIRE(BothPrinted(program, "up"));
  program.Type("\x03");
  Pause(program, 150ms);
  program.Type("\x03");
  const ProgramResult result = program.Wait(5s);
  INFO(result.out);
  CHECK(result.status == ExitStatus{.code = 130});
  CHECK(Contains(result.out, "got INT"));
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("ten interrupts in a second leave nothing behind", "[e2e]") {
  const ScopedMark mark;
  Program program = Start(
      mark, {"--stop-grace-secs", "30"},
      "trap '' INT TERM; setsid sleep 600 & echo up; while :; do sleep 1; "
      "done");
  REQUIRE(BothPrinted(program, "up"));
  for (int i = 0; i < 10 && program.running(); ++i) {
    program.Signal(SIGINT);
    Pause(program, 100ms);
  }
  const ProgramResult result = program.Wait(5s);
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 130});
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("TERM and then INT ends at once and counts as TERM", "[e2e]") {
  const ScopedMark mark;
  Program program = Start(mark, {"--stop-grace-secs", "30"}, kStubborn);
  REQUIRE(BothPrinted(program, "up"));
  program.Signal(SIGTERM);
  REQUIRE(BothPrinted(program, "got TERM"));
  program.Signal(SIGINT);
  const ProgramResult result = program.Wait(5s);
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 143});
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("HUP under nohup does not end a job", "[e2e]") {
  const ScopedMark mark;
  TemporaryDirectory directory;
  const std::string go = directory / "go";
  Program program(
      [&] {
        std::vector<std::string> words = HvdrunCommand(
            {"-np", "2", "sh", "-c",
             "echo up; until [ -e " + go + " ]; do sleep 0.02; done"});
        words.insert(words.begin(), "nohup");
        return words;
      }(),
      Marked(mark));
  REQUIRE(BothPrinted(program, "up"));
  program.Signal(SIGHUP);
  Pause(program, 100ms);
  CHECK(program.running());
  directory.Write("go", "");
  const ProgramResult result = program.Wait(10s);
  INFO(result.err);
  CHECK(result.status.success());
}

TEST_CASE("USR1 and USR2 reach every worker each time and end nothing",
          "[e2e]") {
  // PyTorch #154849: Slurm warns by USR1.
  const ScopedMark mark;
  Program program = Start(mark, {},
                          "n=0; trap 'n=$((n+1)); echo got USR1' USR1; "
                          "trap 'n=$((n+1)); echo got USR2' USR2; echo up; "
                          "until [ $n -ge 4 ]; do sleep 0.02; done; exit 0");
  REQUIRE(BothPrinted(program, "up"));
  for (std::size_t times = 1; times <= 2; ++times) {
    program.Signal(SIGUSR1);
    REQUIRE(BothPrinted(program, "got USR1", times));
    program.Signal(SIGUSR2);
    REQUIRE(BothPrinted(program, "got USR2", times));
  }
  const ProgramResult result = program.Wait(10s);
  INFO(result.err);
  CHECK(result.status.success());
  CHECK(Count(result.out, "got USR1") == 4);
  CHECK(Count(result.out, "got USR2") == 4);
}

TEST_CASE("an interrupt reaches grandchildren behind a shell wrapper",
          "[e2e]") {
  // PyTorch #113231: the wrapper does not exec.
  const ScopedMark mark;
  Program program =
      Start(mark, {},
            "trap : INT; sh -c 'trap \"echo child got INT; exit\" INT; "
            "echo up; while :; do sleep 0.02; done'; echo over");
  REQUIRE(BothPrinted(program, "up"));
  program.Signal(SIGINT);
  const ProgramResult result = program.Wait(10s);
  INFO(result.out << result.err);
  CHECK(result.status == ExitStatus{.code = 130});
  CHECK(Count(result.out, "child got INT") == 2);
  CHECK(Count(result.out, ":over") == 2);
  CHECK(result.took < 4s);  // no TERM was needed: it comes after 5 s
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("a failure ends the grandchildren of every other rank", "[e2e]") {
  const ScopedMark mark;
  TemporaryDirectory directory;
  const std::string go = directory / "go";
  Program program = Start(
      mark, {"--stop-grace-secs", "1"},
      "sleep 600 & setsid sleep 600 & echo up; [ $HVD_RANK = 0 ] && wait; "
      "until [ -e " +
          go + " ]; do sleep 0.02; done; exit 6");
  REQUIRE(BothPrinted(program, "up"));
  directory.Write("go", "");
  const ProgramResult result = program.Wait(10s);
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 6});
  CHECK(NoneLeft(mark.text(), 1s));
}

TEST_CASE("workers start with default signals though hvdrun ignores some",
          "[e2e]") {
  ProgramOptions options;
  options.ignored_signals = {SIGHUP, SIGPIPE, SIGUSR1};
  const ProgramResult result =
      Hvdrun({"-np", "1", "grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"},
             options);
  INFO(result.out << result.err);
  CHECK(result.status.success());
  CHECK(Contains(result.out, "SigBlk:\t0000000000000000\n"));
  // 32 and 33 are the C library's own; nobody else can send them.
  const std::size_t ignored = result.out.find("SigIgn:\t");
  REQUIRE(ignored != std::string::npos);
  const unsigned long long set =
      std::stoull(result.out.substr(ignored + 8), nullptr, 16);
  CHECK((set & ~0x180000000ULL) == 0);
}

}  // namespace hvd::testing
