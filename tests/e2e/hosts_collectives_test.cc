// Collectives over hosts that share nothing but a network, and what is left on
// a host whose job was killed in the middle of them.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/e2e/host_job.h"

using namespace std::chrono_literals;

namespace hvd::testing {
namespace {

// What of processes may outlive them on host a: files where programs leave
// some, System V's memory, and abstract sockets. Other sockets would be sshd's.
std::set<std::string> LeftOn(const Bed& bed) {
  const ProgramResult found =
      bed.Run("a", {"sh", "-c",
                    "find /tmp /dev/shm && tail -n +2 /proc/sysvipc/shm && "
                    "(grep -o '@.*' /proc/net/unix || true)"});
  INFO(found.err);
  REQUIRE(found.status.ToShell() == 0);
  const auto lines = Lines(found.out);
  return {lines.begin(), lines.end()};
}

std::string NewIn(const std::set<std::string>& after,
                  const std::set<std::string>& before) {
  std::string text;
  for (const std::string& line : after) {
    if (!before.contains(line)) text += line + '\n';
  }
  return text;
}

// All at once: nobody is left to tidy up after the others.
void KillAll(const ScopedMark& mark) {
  const std::vector<pid_t> pids = ProcessesWith(mark.text());
  for (const pid_t pid : pids) ::kill(pid, SIGSTOP);
  for (const pid_t pid : pids) ::kill(pid, SIGKILL);
}

}  // namespace

TEST_CASE("Every operation gives the same bits on all ranks of three hosts",
          "[testbed]") {
  const Bed bed({"3"});
  const ProgramResult result = RunOnHosts(
      bed,
      {"-np", "6", "-H", "a:2,b:2,c:2", "--output", "raw", HVD_GRID_WORKER});
  INFO(result.out << result.err);
  CHECK(result.status.ToShell() == 0);
  const auto lines = Lines(result.out);
  REQUIRE(lines.size() == 6);
  for (const std::string& line : lines) {
    CHECK(line == lines[0]);
    CHECK(Contains(line, " wrong="));
    CHECK(line.back() == '=');  // nothing
  }
}

TEST_CASE("Killing every process of a job at once leaves nothing on its host",
          "[testbed]") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Bed bed({"1"});
  const std::set<std::string> before = LeftOn(bed);
  for (int round = 0; round < 5; ++round) {
    const ScopedMark mark;
    HostJob job(bed, {"-np", "4", E2eWorker(), "heap"}, Marked(mark));
    for (const char* rank : {"0", "1", "2", "3"}) {
      REQUIRE(job.Prints(std::string("[") + rank + "]<stdout>:running"));
    }
    if (round == 0) {  // there is something that could be left
      CHECK(Contains(NewIn(LeftOn(bed), before), "@hvd"));
    }
    const std::chrono::microseconds delay(random() % 30'000);
    INFO("round " << round << ", " << delay.count() << " us after the start");
    const auto moment = std::chrono::steady_clock::now() + delay;
    job.WaitUntil([&] { return std::chrono::steady_clock::now() >= moment; },
                  1s);
    KillAll(mark);
    CHECK(NoneLeft(mark.text(), 5s));
    CHECK(NewIn(LeftOn(bed), before) == "");
  }
}

}  // namespace hvd::testing
