// A bed begins when it is asked for, ends with its owner, and was never there.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "tests/support/lines.h"
#include "tests/support/temporary_directory.h"
#include "tests/testbed/bed.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

const std::vector<std::string> kKinds{"mnt", "net", "pid", "uts", "ipc"};

// "net:[4026532281]", of one process; empty when it has ended.
std::string NamespaceOf(const std::string& pid, const std::string& kind) {
  std::error_code gone;
  return fs::read_symlink("/proc/" + pid + "/ns/" + kind, gone).string();
}

// The namespaces that a bed has made. They are held open, since the kernel
// gives the number of one that is gone to the next.
class Namespaces {
 public:
  explicit Namespaces(const Bed& bed) {
    for (const pid_t pid : ProcessesWith(bed.name())) {
      for (const std::string& kind : kKinds) Add(std::to_string(pid), kind);
    }
  }

  std::size_t Count(const std::string& kind) const {
    return static_cast<std::size_t>(std::count_if(
        names_.begin(), names_.end(),
        [&](const std::string& name) { return name.find(kind + ':') == 0; }));
  }

  // Whether any living process of the machine is in one of them.
  bool Inhabited() const {
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
      const std::string pid = entry.path().filename().string();
      if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
      if (ProcessState(std::stoi(pid)) != 'Z' && Has(pid)) return true;
    }
    return false;
  }

  bool EmptyWithin(std::chrono::milliseconds limit) const {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (Inhabited()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      ::poll(nullptr, 0, 10);
    }
    return true;
  }

 private:
  void Add(const std::string& pid, const std::string& kind) {
    const std::string name = NamespaceOf(pid, kind);
    if (name == NamespaceOf("self", kind) || !names_.insert(name).second) {
      return;
    }
    held_.emplace_back(
        ::open(("/proc/" + pid + "/ns/" + kind).c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(held_.back().valid());
  }

  bool Has(const std::string& pid) const {
    return std::any_of(kKinds.begin(), kKinds.end(),
                       [&](const std::string& kind) {
                         return names_.count(NamespaceOf(pid, kind)) > 0;
                       });
  }

  std::set<std::string> names_;
  std::vector<UniqueFd> held_;
};

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
  Program there(
      bed.On("b", {"setsid", "sh", "-c", "echo there; exec sleep 1000"}));
  REQUIRE(there.WaitForOutput("there"));
  const Namespaces namespaces(bed);
  CHECK(namespaces.Count("net") == 4);  // the hosts and the switch
  CHECK(namespaces.Count("pid") == 4);
  CHECK(namespaces.Count("uts") == 3);
  CHECK(Look() == before);
  REQUIRE(namespaces.Inhabited());

  bed.Down();
  CHECK(namespaces.EmptyWithin(0s));
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
  const Namespaces namespaces(bed);
  REQUIRE(namespaces.Inhabited());
  owner.Signal(SIGKILL);
  owner.Wait();
  CHECK(namespaces.EmptyWithin(2s));
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
