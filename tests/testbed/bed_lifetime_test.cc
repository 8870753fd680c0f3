// A bed begins when it is asked for, ends with its owner, and was never there.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/support/lines.h"
#include "tests/support/temporary_directory.h"
#include "tests/testbed/bed.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

std::set<std::string> NamespacesOf(const std::string& pid) {
  std::set<std::string> found;
  for (const std::string kind : {"mnt", "net", "pid", "uts", "ipc"}) {
    std::error_code gone;
    const fs::path link =
        fs::read_symlink("/proc/" + pid + "/ns/" + kind, gone);
    if (!gone) found.insert(link.string());
  }
  return found;
}

// Those of a bed's processes that are not this process's own.
std::set<std::string> NamespacesOf(const Bed& bed) {
  std::set<std::string> found;
  for (const pid_t pid : ProcessesWith(bed.name())) {
    found.merge(NamespacesOf(std::to_string(pid)));
  }
  for (const std::string& own : NamespacesOf("self")) found.erase(own);
  return found;
}

// Whether any living process of the machine is in one of them.
bool AnybodyIn(const std::set<std::string>& namespaces) {
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (ProcessState(std::stoi(pid)) == 'Z') continue;
    const std::set<std::string> its = NamespacesOf(pid);
    if (std::any_of(its.begin(), its.end(), [&](const std::string& one) {
          return namespaces.count(one) > 0;
        })) {
      return true;
    }
  }
  return false;
}

// What the machine has whatever beds there are.
struct Machine {
  std::set<std::string> interfaces;
  std::string mounts;
  std::string hosts_file;
  bool operator==(const Machine&) const = default;
};

Machine Look() {
  Machine seen{{}, ReadFile("/proc/self/mountinfo"), ReadFile("/etc/hosts")};
  for (const auto& entry : fs::directory_iterator("/sys/class/net")) {
    seen.interfaces.insert(entry.path().filename().string());
  }
  return seen;
}

std::size_t CountOf(const std::set<std::string>& namespaces,
                    const std::string& kind) {
  return static_cast<std::size_t>(std::count_if(
      namespaces.begin(), namespaces.end(),
      [&](const std::string& one) { return one.find(kind) == 0; }));
}

std::string ErrorOf(const std::vector<std::string>& words) {
  const ProgramResult up = BedUp(words);
  INFO(up.out);
  CHECK(up.status.ToShell() == 1);
  CHECK(up.out.empty());
  const auto errors = LinesOf(up.err, "testbed: error: ");
  REQUIRE(errors.size() == 1);
  CHECK(Lines(up.err).size() == 1);
  return errors[0];
}

}  // namespace

TEST_CASE("A bed changes nothing of the machine and leaves nothing behind",
          "[testbed]") {
  const Machine before = Look();
  const Bed bed({"3", "--docker0", "--dead-network"});
  Program there(bed.On("b", {"setsid", "sleep", "1000"}));
  const std::set<std::string> namespaces = NamespacesOf(bed);
  CHECK(CountOf(namespaces, "net:") == 4);  // the hosts and the switch
  CHECK(CountOf(namespaces, "pid:") == 4);
  CHECK(CountOf(namespaces, "uts:") == 3);
  CHECK(Look() == before);
  REQUIRE(AnybodyIn(namespaces));

  bed.Down();
  CHECK_FALSE(AnybodyIn(namespaces));
  CHECK(there.Wait().status.signal == SIGKILL);
  CHECK(NoneLeft(bed.name(), 0s));
  CHECK(Look() == before);
  bed.Down();
}

TEST_CASE("A bed ends when its owner is killed", "[testbed]") {
  Program owner({"sleep", "1000"});
  const Bed bed({"2", "--owner", std::to_string(owner.pid())});
  Program there(bed.On("b", {"setsid", "--fork", "sleep", "1000"}));
  CHECK(there.Wait().status.ToShell() == 0);
  const std::set<std::string> namespaces = NamespacesOf(bed);
  REQUIRE(AnybodyIn(namespaces));
  owner.Signal(SIGKILL);
  owner.Wait();
  CHECK(NoneLeft(bed.name(), 2s));
  CHECK_FALSE(AnybodyIn(namespaces));
}

TEST_CASE("Beds that are up at the same time know nothing of each other",
          "[testbed]") {
  const Bed one({"2"});
  const Bed other({"3"});
  const std::vector<std::string> ssh{"ssh", "-o", "BatchMode=yes", "b",
                                     "cat /proc/sys/kernel/random/boot_id"};
  CHECK(one.Run("a", ssh).out != other.Run("a", ssh).out);
  CHECK(one.Run("c", {"true"}).err ==
        "testbed: error: no host is called \"c\"; there are a b\n");
  CHECK(other.Run("c", {"true"}).status.ToShell() == 0);
  one.Cut("b");
  one.PowerOff("a");
  CHECK(other.Run("a", ssh).status.ToShell() == 0);
  one.Down();
  CHECK(other.Run("a", ssh).status.ToShell() == 0);
}

TEST_CASE("A bed that is up already is left as it is", "[testbed]") {
  const ScopedMark mark;
  const std::vector<std::string> words{"2", "--bed", mark.text(), "--owner",
                                       std::to_string(::getpid())};
  REQUIRE(BedUp(words).status.ToShell() == 0);
  const std::vector<pid_t> processes = ProcessesWith(mark.text());
  const ProgramResult again = BedUp(words);
  CHECK(again.status.ToShell() == 0);
  CHECK(again.out == "bed " + mark.text() + ": a b (was up already)\n");
  CHECK(ErrorOf({"3", "--bed", mark.text()}) ==
        "bed " + mark.text() +
            " is up and is another: tests/testbed/down first");
  CHECK(ProcessesWith(mark.text()) == processes);
}

TEST_CASE("A bed without a name is the one of who called for it", "[testbed]") {
  const Bed another({"1"});
  // The parentheses are a process of their own, below the one that called.
  const std::string script =
      "cd " + fs::path(BedCommand("up", {})[0]).parent_path().string() +
      " && ./up 2 && ./host b hostname && (./host a hostname; :) &&"
      " ./down && ./down; ./host a hostname";
  ProgramOptions options;
  options.unset = {"HVD_BED"};
  Program caller({"bash", "-c", script}, options);
  const ProgramResult result = caller.Wait();
  INFO(result.out << result.err);
  const std::vector<std::string> lines = Lines(result.out);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].find("bed " + std::to_string(caller.pid()) +
                      ": a b (up in ") == 0);
  CHECK(lines[1] == "b");
  CHECK(lines[2] == "a");
  CHECK(result.status.ToShell() == 1);
  CHECK(result.err.find("testbed: error: no bed was made from here") == 0);
}

TEST_CASE("What cannot be a bed is refused in one line", "[testbed]") {
  CHECK(ErrorOf({"0"}) == "hosts: 1 to 702, got 0");
  CHECK(ErrorOf({"four"}).find("'four'") != std::string::npos);
  CHECK(ErrorOf({"2", "--fast"}).find("--fast") != std::string::npos);
  CHECK(ErrorOf({"2", "--home", "c"}) ==
        "--home: no host is called \"c\"; there are a b");
  CHECK(ErrorOf({"2", "--no-route", "b"}) ==
        "--no-route: \"b\" is not HOST:VALUE");
  CHECK(ErrorOf({"2", "--startups", "a=0"}) ==
        "--startups: \"a=0\" must give a number of 1 or more");
  CHECK(ErrorOf({"2", "--nics", "eth0,"}) ==
        "--nics: \"\" cannot be the name of a NIC");
  CHECK(ErrorOf({"2", "--share", "/nowhere"}) ==
        "--share: /nowhere is no folder");
  CHECK(ErrorOf({"2", "--bed", "a b"}).find("--bed: \"a b\"") == 0);
  CHECK(ErrorOf({"2", "--owner", "999999999", "--bed", UniqueMark()}) ==
        "--owner: there is no process 999999999");
  CHECK(
      ErrorOf({"2", "--slow", "a=fast", "--bed", UniqueMark()}).find("tc: ") ==
      0);
}

TEST_CASE("An ordinary user is told that a bed takes root", "[testbed]") {
  ProgramOptions options;
  options.uid = ::getuid() == 0 ? kNobody : 0;
  const ProgramResult up =
      RunProgram(BedCommand("up", {"2", "--bed", UniqueMark()}), options);
  CHECK(up.status.ToShell() == 77);
  CHECK(up.out.empty());
  CHECK(up.err ==
        "testbed: not run: a bed is made of namespaces, which takes root\n");
}

}  // namespace hvd::testing
