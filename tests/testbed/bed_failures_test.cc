// What happens to a host of a bed happens as it does to a machine: without a
// word to the others.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "tests/support/lines.h"
#include "tests/testbed/bed.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

// Long enough to hear of an end that is told: that takes milliseconds.
constexpr auto kSilence = 700ms;

const std::string kCount =
    "i=0; while sleep 0.05; do i=$((i+1)); echo $i; done";

// Counts on a host, by itself or over ssh.
class Counter {
 public:
  Counter(const Bed& bed, const std::string& host) : Counter(bed, host, {}) {}
  Counter(const Bed& bed, const std::string& from, const std::string& to)
      : program_(bed.On(from, Command(to))) {
    INFO(program_.err());
    REQUIRE(Goes());
  }

  // It comes further.
  bool Goes() { return Reads(Read() + 5, 20s); }
  // What was under way has been heard, and now it neither comes further nor
  // ends.
  bool FallsSilent() {
    program_.WaitUntil([] { return false; }, kSilence);
    const std::size_t begin = Read();
    return !Reads(begin + 1, kSilence) && program_.running();
  }
  bool Ends() {
    return program_.WaitUntil([this] { return !program_.running(); }, 10s);
  }
  // Nothing is missing in what it said.
  bool IsWhole() const {
    int expected = 0;
    for (const std::string& line : Lines(program_.out())) {
      if (line != std::to_string(++expected)) return false;
    }
    return expected > 0;
  }
  Program& program() { return program_; }

 private:
  static std::vector<std::string> Command(const std::string& over_ssh_to) {
    if (over_ssh_to.empty()) return {"sh", "-c", kCount};
    return {"ssh", "-o", "BatchMode=yes", over_ssh_to, kCount};
  }
  // Newlines: a line that is half read does not count.
  std::size_t Read() const {
    std::size_t lines = 0;
    for (const char c : program_.out()) lines += c == '\n' ? 1U : 0U;
    return lines;
  }
  bool Reads(std::size_t lines, std::chrono::milliseconds limit) {
    return program_.WaitUntil([&] { return Read() >= lines; }, limit);
  }

  Program program_;
};

std::string BootOf(const Bed& bed, const std::string& host) {
  return bed.Run(host, {"cat", "/proc/sys/kernel/random/boot_id"}).out;
}

}  // namespace

TEST_CASE(
    "A cut cable of a bed is silence, and what was said arrives once it "
    "is mended",
    "[testbed]") {
  const bool ipv6 = GENERATE(false, true);
  const Bed bed(ipv6 ? std::vector<std::string>{"3", "--ipv6"}
                     : std::vector<std::string>{"3"});
  Counter over_cable(bed, "a", "b");
  Counter beside(bed, "a", "c");
  bed.Cut("b");
  CHECK(over_cable.FallsSilent());
  CHECK(beside.Goes());
  bed.Mend("b");
  CHECK(over_cable.Goes());
  CHECK(over_cable.IsWhole());
  // Without a cut, an end is heard.
  CHECK(bed.Run("b", {"pkill", "-KILL", "sshd"}).status.ToShell() == 0);
  CHECK(over_cable.Ends());
  CHECK(beside.Goes());
}

TEST_CASE(
    "A host of a bed that is powered off takes all on it along, in "
    "silence",
    "[testbed]") {
  const Bed bed({"3"});
  const std::string boot = BootOf(bed, "b");
  Counter heard(bed, "a", "b");
  Counter there(bed, "b");
  Counter beside(bed, "c");
  bed.PowerOff("b");
  CHECK(there.program().Wait().status.signal == SIGKILL);
  CHECK(heard.FallsSilent());
  CHECK(beside.Goes());
  const ProgramResult off = bed.Run("b", {"true"});
  CHECK(off.status.ToShell() == 1);
  CHECK(off.err == "testbed: error: host b is off: tests/testbed/on b first\n");
  bed.PowerOff("b");

  bed.PowerOn("b");
  CHECK(BootOf(bed, "b") != boot);
  CHECK(bed.Run("a", {"ssh", "-o", "BatchMode=yes", "b", "hostname"}).out ==
        "b\n");
}

TEST_CASE("A host of a bed whose first process ends is off", "[testbed]") {
  const Bed bed({"2"});
  Counter there(bed, "b");
  REQUIRE(bed.Run("a", {"true"}).status.ToShell() == 0);
  for (const pid_t pid : ProcessesWith(bed.name())) {
    const ProgramResult name =
        RunProgram({"cat", "/proc/" + std::to_string(pid) + "/comm"});
    if (name.out == "testbed-b\n") ::kill(pid, SIGKILL);
  }
  CHECK(there.program().Wait().status.signal == SIGKILL);
  CHECK(bed.Run("b", {"true"}).status.ToShell() == 1);
  bed.PowerOn("b");
  CHECK(bed.Run("b", {"true"}).status.ToShell() == 0);
}

TEST_CASE("A cable of a bed that is cut stays so while its host starts again",
          "[testbed]") {
  const Bed bed({"2"});
  const std::vector<std::string> ssh{
      "ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=1", "b", "hostname"};
  bed.Cut("b");
  bed.PowerOff("b");
  bed.PowerOn("b");
  CHECK(bed.Run("a", ssh).status.ToShell() == 255);
  bed.Mend("b");
  CHECK(bed.Run("a", ssh).out == "b\n");
}

TEST_CASE("A frozen host of a bed does nothing until it is thawed",
          "[testbed]") {
  const Bed bed({"2"});
  Counter there(bed, "b");
  Counter heard(bed, "a", "b");
  Counter beside(bed, "a");
  bed.Freeze("b");
  CHECK(there.FallsSilent());
  CHECK(heard.FallsSilent());
  CHECK(beside.Goes());
  CHECK(bed.Run("a", {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=1",
                      "b", "true"})
            .status.ToShell() == 255);
  CHECK(bed.Run("b", {"true"}).err ==
        "testbed: error: host b is frozen: tests/testbed/thaw b first\n");
  bed.Freeze("b");

  bed.Thaw("b");
  CHECK(there.Goes());
  CHECK(heard.Goes());
  CHECK(there.IsWhole());
  CHECK(heard.IsWhole());
}

}  // namespace hvd::testing
