// Nothing is left behind, whatever dies: hvdrun or its keeper alone, by a
// signal that nobody can catch, with workers that do their best to escape.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "tests/e2e/hvdrun.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

constexpr uid_t kNobody = 65534;
// What is promised: the grace and two seconds.
constexpr auto kGraceAndTwo = 3s;
constexpr const char* kGrace = "1";

// A grandchild, one in a session of its own, and one that forked twice and has
// lost its parent. "up" once all of them are there.
constexpr const char* kFamily =
    "sleep 600 & setsid sleep 600 & "
    "(setsid sh -c 'sleep 600 & exec sleep 600' &) ; ";
constexpr const char* kWaits = "echo up; wait; exec sleep 600";

Program StartFamilies(const ScopedMark& mark, const std::string& first,
                      uid_t uid = 0) {
  // A directory that every user may be in.
  return Program(HvdrunCommand({"-np", "2", "--stop-grace-secs", kGrace, "sh",
                                "-c", first + kFamily + kWaits}),
                 Marked(mark, {.unset = {"HOME"}, .cwd = "/", .uid = uid}));
}

bool BothUp(Program& program) {
  const bool up = program.WaitForOutput("[0]<stdout>:up", 10s) &&
                  program.WaitForOutput("[1]<stdout>:up", 10s);
  INFO(program.out() << program.err());
  CHECK(up);
  return up;
}

pid_t KeeperOf(const Program& program) {
  const auto keeper = ChildNamed(program.pid(), "hvdrun-keeper");
  REQUIRE(keeper);
  return *keeper;
}

bool IsGone(pid_t pid) {
  const char state = ProcessState(pid);
  return state == '\0' || state == 'Z' || state == 'X';
}

// As root, and as somebody who may signal no one else where we can be both.
std::vector<uid_t> Users() {
  if (::getuid() != 0) return {0};
  return {0, kNobody};
}

// Whether the workers take TERM or have to be killed.
const std::vector<std::string> kTempers = {"", "trap '' TERM INT HUP; "};

}  // namespace

TEST_CASE("kill -9 of hvdrun alone leaves no process behind", "[e2e]") {
  // horovod #2402, vllm-ascend #6998.
  for (const uid_t uid : Users()) {
    for (const std::string& temper : kTempers) {
      INFO("user " << uid << ", workers: " << temper);
      const ScopedMark mark;
      Program program = StartFamilies(mark, temper, uid);
      REQUIRE(BothUp(program));
      const pid_t keeper = KeeperOf(program);
      // hvdrun, and five processes of each worker.
      CHECK(program.WaitUntil(
          [&] { return ProcessesWith(mark.text()).size() >= 11; }, 5s));
      program.Signal(SIGKILL);
      CHECK(NoneLeft(mark.text(), kGraceAndTwo));
      CHECK(program.WaitUntil([&] { return IsGone(keeper); }, 1s));
    }
  }
}

TEST_CASE("kill -9 of the keeper alone ends the job with 125 and all of it",
          "[e2e]") {
  for (const uid_t uid : Users()) {
    for (const std::string& temper : kTempers) {
      INFO("user " << uid << ", workers: " << temper);
      const ScopedMark mark;
      Program program = StartFamilies(mark, temper, uid);
      REQUIRE(BothUp(program));
      REQUIRE(::kill(KeeperOf(program), SIGKILL) == 0);
      const ProgramResult result = program.Wait(kGraceAndTwo);
      INFO(result.err);
      CHECK(result.status == ExitStatus{.code = 125});
      CHECK(Contains(LastLine(result.err), "keeper"));
      CHECK(NoneLeft(mark.text(), 100ms));
    }
  }
}

TEST_CASE("workers end after kill -9 of hvdrun though nobody reads its output",
          "[e2e]") {
  const ScopedMark mark;
  Program program(HvdrunCommand({"-np", "2", "--stop-grace-secs", kGrace, "sh",
                                 "-c", "trap '' TERM; yes"}),
                  Marked(mark, {.read_output = false}));
  REQUIRE(program.WaitUntil(
      [&] { return ProcessesWith(mark.text()).size() >= 5; }, 10s));
  program.Signal(SIGKILL);
  CHECK(NoneLeft(mark.text(), kGraceAndTwo));
}

TEST_CASE("a fork bomb of a worker ends with the job", "[e2e]") {
  // Bounded: a chain of short processes that each start the next one.
  const ScopedMark mark;
  Program program(
      HvdrunCommand({"-np", "1", "--stop-grace-secs", "0.5", "sh", "-c",
                     "trap '' TERM; echo up; export N=0; "
                     "S='trap \"\" TERM; N=$((N+1)); [ $N -lt 20000 ] && "
                     "setsid sh -c \"$S\" & exit 0'; export S; "
                     "setsid sh -c \"$S\" & exec sleep 600"}),
      Marked(mark));
  REQUIRE(program.WaitForOutput("up", 10s));
  program.Signal(SIGTERM);
  CHECK(program.Wait(10s).status == ExitStatus{.code = 143});
  CHECK(NoneLeft(mark.text(), 100ms));
}

TEST_CASE("what workers leave running when they succeed ends with hvdrun",
          "[e2e]") {
  for (const std::string& temper : kTempers) {
    const ScopedMark mark;
    const ProgramResult result =
        Hvdrun({"-np", "2", "--stop-grace-secs", kGrace, "sh", "-c",
                temper + kFamily + "exit 0"},
               Marked(mark));
    INFO(result.err);
    CHECK(result.status.success());
    CHECK(result.took < kGraceAndTwo + 1s);
    CHECK(NoneLeft(mark.text(), 100ms));
  }
}

TEST_CASE("hvdrun as the first process of a container reaps and ends on TERM",
          "[e2e]") {
  if (::getuid() != 0) return;  // unshare needs it
  const ScopedMark mark;
  // Each worker leaves zombies to whoever adopts them: 20 that fork twice.
  std::vector<std::string> words = HvdrunCommand(
      {"-np", "2", "--stop-grace-secs", kGrace, "sh", "-c",
       "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
       "(sh -c 'exit 3' &) ; done; echo up; exec sleep 600"});
  words.insert(words.begin(), {"unshare", "-pf", "--mount-proc"});
  Program program(words, Marked(mark));
  REQUIRE(BothUp(program));
  const auto first = ChildNamed(program.pid(), "hvdrun");
  REQUIRE(first);
  const auto keeper = ChildNamed(*first, "hvdrun-keeper");
  REQUIRE(keeper);
  // hvdrun keeps its keeper, the keeper its two workers; nothing is a zombie.
  CHECK(program.WaitUntil(
      [&] {
        return ChildrenOf(*first).size() == 1 &&
               ChildrenOf(*keeper).size() == 2;
      },
      5s));
  REQUIRE(::kill(*first, SIGTERM) == 0);
  const ProgramResult result = program.Wait(kGraceAndTwo);
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 143});
  CHECK(NoneLeft(mark.text(), 100ms));
}

TEST_CASE("20 rounds of kill -9 at a random moment leave nothing behind",
          "[e2e]") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> delay_ms(0, 60);
  for (int round = 0; round < 20; ++round) {
    const bool victim_is_keeper = engine() % 2 == 0;
    const std::chrono::milliseconds delay(delay_ms(engine));
    INFO("round " << round << ": "
                  << (victim_is_keeper ? "keeper after " : "hvdrun after ")
                  << delay.count() << " ms");
    const ScopedMark mark;
    Program program = StartFamilies(mark, "");
    program.WaitUntil([] { return false; }, delay);
    const auto keeper = ChildNamed(program.pid(), "hvdrun-keeper");
    if (victim_is_keeper && keeper) {
      REQUIRE(::kill(*keeper, SIGKILL) == 0);
      CHECK(program.Wait(kGraceAndTwo).status == ExitStatus{.code = 125});
    } else {
      program.Signal(SIGKILL);
    }
    CHECK(NoneLeft(mark.text(), kGraceAndTwo));
  }
}

}  // namespace hvd::testing
