// Jobs in which hosts start hosts.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/e2e/elastic_ring.h"
#include "tests/e2e/host_job.h"

using namespace std::chrono_literals;

namespace hvd::testing {
namespace {

// Many hosts that are one: what stands for ssh runs agents where it is called,
// and notes who called it.
class NotedShell {
 public:
  // `trouble`: shell lines before the agent; $1 is the host, $STARTED_ON who
  // starts it, empty if that is hvdrun.
  explicit NotedShell(const std::string& trouble = "") {
    ::chmod(folder_.path().c_str(), 0755);
    folder_.Write("rsh",
                  "#!/bin/sh\n"
                  "echo \"${STARTED_ON:-hvdrun} $1\" >>" +
                      log() + "\n" + trouble +
                      "\nexport STARTED_ON=$1\nexec /bin/sh -c \"$2\"\n",
                  0755);
    bed_.emplace(std::vector<std::string>{"1", "--share", folder_.path()});
  }

  // A worker on each of so many hosts, which says where it is.
  ProgramResult Run(int hosts, std::vector<std::string> flags) const {
    std::vector<std::string> words = {
        "-np",       std::to_string(hosts), "-H",
        List(hosts), "--remote-shell",      folder_ / "rsh"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"sh", "-c", "echo on $HVD_HOST"});
    return RunOnHosts(*bed_, words);
  }

  // "starter host" of every start, in their order.
  std::vector<std::string> Starts() const { return Lines(ReadFile(log())); }
  // Who has started `host`, first to last.
  std::vector<std::string> StartersOf(const std::string& host) const {
    std::vector<std::string> starters;
    for (const std::string& start : Starts()) {
      const std::size_t space = start.find(' ');
      if (start.substr(space + 1) == host) {
        starters.push_back(start.substr(0, space));
      }
    }
    return starters;
  }
  std::map<std::string, int> StartsOfEach() const {
    std::map<std::string, int> starts;
    for (const std::string& start : Starts()) {
      ++starts[start.substr(0, start.find(' '))];
    }
    return starts;
  }
  const Bed& bed() const { return *bed_; }
  std::string path() const { return folder_ / "rsh"; }

  // Addresses that nobody has: none of them is this machine.
  static std::string Name(int number) {
    return "192.0.2." + std::to_string(number);
  }

 private:
  static std::string List(int hosts) {
    std::string list;
    for (int i = 1; i <= hosts; ++i) list += (i > 1 ? "," : "") + Name(i);
    return list;
  }
  std::string log() const { return folder_ / "log"; }

  TemporaryDirectory folder_;
  std::optional<Bed> bed_;
};

void CheckAllRan(const ProgramResult& result, int hosts) {
  INFO(result.out << result.err);
  CHECK(result.status.ToShell() == 0);
  for (int i = 1; i <= hosts; ++i) {
    CHECK(Count(result.out, "on " + NotedShell::Name(i) + '\n') == 1);
  }
}

}  // namespace

TEST_CASE("No machine starts more hosts than --fan-out", "[testbed]") {
  const NotedShell shell;
  CheckAllRan(shell.Run(40, {"--fan-out", "4"}), 40);
  CHECK(shell.Starts().size() == 40);
  for (const auto& [starter, starts] : shell.StartsOfEach()) {
    CAPTURE(starter);
    CHECK(starts <= 4);
  }
}

TEST_CASE("hvdrun starts every host itself as long as they are few",
          "[testbed]") {
  const NotedShell shell;
  CheckAllRan(shell.Run(6, {}), 6);
  CHECK(shell.StartsOfEach() == std::map<std::string, int>{{"hvdrun", 6}});
}

TEST_CASE("An installed agent installs others", "[testbed]") {
  constexpr std::uintmax_t kMostInstalled = 16 << 20;
  if (std::filesystem::file_size(Bin("../libexec/hvdrun/hvdrun-agent")) >
      kMostInstalled) {
    WARN("a sanitizer's agent is too large to be brought along");
    return;
  }
  const NotedShell shell;
  CheckAllRan(shell.Run(6, {"--fan-out", "2", "--install-agent"}), 6);
  CHECK(shell.StartsOfEach().at("hvdrun") == 2);
  CHECK(shell.Starts().size() == 6);
  const ProgramResult left = shell.bed().Run(
      "a", {"sh", "-c", "ls -d /tmp/hvdrun-agent* $TMPDIR/hv*"});
  CHECK(left.out.empty());
}

TEST_CASE("hvdrun starts the hosts that other hosts cannot log in to",
          "[testbed]") {
  const NotedShell shell(
      "if [ -n \"$STARTED_ON\" ]; then echo \"Permission denied (publickey).\" "
      ">&2; exit 255; fi");
  const ProgramResult result = shell.Run(8, {"--fan-out", "2"});
  CheckAllRan(result, 8);
  CHECK(shell.StartsOfEach().at("hvdrun") == 8);
  CHECK(Count(result.err, "Permission denied (publickey)") == 1);
  CHECK(Contains(result.err, "cannot log in to host "));
}

TEST_CASE("A host that nobody can log in to is told as if hvdrun alone tried",
          "[testbed]") {
  const std::string last = NotedShell::Name(4);
  const NotedShell shell("if [ $1 = " + last +
                         " ]; then echo \"Permission denied (publickey).\" "
                         ">&2; exit 255; fi");
  const ProgramResult tree = shell.Run(4, {"--fan-out", "1"});
  const ProgramResult flat = shell.Run(4, {"--fan-out", "4"});
  CHECK(shell.StartersOf(last).size() == 3);
  CHECK(tree.status.ToShell() == 125);
  CHECK(flat.status.ToShell() == 125);
  CHECK(Contains(tree.err, "host " + last + ": authenticate: "));
  CHECK(tree.err == flat.err);
}

TEST_CASE("A host whose starter is killed is started from another place",
          "[testbed]") {
  // The shell's parent is a keeper, whose parent is the agent.
  const NotedShell shell(
      "if [ \"$STARTED_ON\" ] && mkdir \"$0.once\" 2>/dev/null; then "
      "echo $STARTED_ON $1 >\"$0.once/start\"; kill -9 $(cut -d ' ' -f 4 "
      "/proc/$PPID/stat); exec sleep 300; fi");
  const ProgramResult result =
      shell.Run(5, {"--fan-out", "2", "--min-np", "1"});
  CheckAllRan(result, 5);
  std::istringstream start(ReadFile(shell.path() + ".once/start"));
  std::string killed;
  std::string host;
  start >> killed >> host;
  const auto starters = shell.StartersOf(host);
  REQUIRE(starters.size() == 2);
  CHECK(starters[0] == killed);
  CHECK(starters[1] != killed);
  CHECK(shell.StartersOf(killed).size() == 2);  // it is tried again
}

namespace {

// Who has started each host, as that host's worker says.
constexpr const char* kSayFrom = "echo on $HVD_HOST from ${SSH_CLIENT%% *}.";

// A host other than a that has started another one.
std::string StarterAmong(const std::string& out) {
  for (const std::string host : {"b", "c", "d", "e"}) {
    const std::string address = "10.77.0." + std::to_string(host[0] - 'a' + 1);
    if (Contains(out, " from " + address + '.')) return host;
  }
  return "";
}

// An elastic ring on b, c, d and e, of which a starts two, and those the
// others.
struct RingInTree {
  RingInTree() {
    job.emplace(
        bed, std::vector<std::string>{
                 "-np", "4", "--min-np", "1", "-H", "b,c,d,e", "--fan-out", "2",
                 "--host-timeout", "2", "--stop-grace-secs", "1", "sh", "-c",
                 kSayFrom + std::string("; exec ") + Bin("ring") +
                     " --rate 20 --steps 1000"});
    REQUIRE(job->WaitUntil([&] { return HasSteps(job->out(), 4, 5); }, 40s));
    starter = StarterAmong(job->out());
    REQUIRE_FALSE(starter.empty());
  }

  bool Until(const std::function<bool()>& done) {
    const bool came = job->WaitUntil(done, 40s);
    if (!came) UNSCOPED_INFO(job->out() << job->err());
    return came;
  }
  // Nobody else has noticed anything.
  void LostOnlyTheStarter() {
    INFO(job->out() << job->err());
    CHECK(Contains(job->err(), "hvdrun: host " + starter + " is lost: "));
    CHECK(Count(job->err(), "hvdrun: host ") == 1);
    for (const std::string host : {"b", "c", "d", "e"}) {
      CAPTURE(host, starter);
      if (host != starter) CHECK(Count(job->out(), "on " + host + ' ') == 1);
    }
    job->Signal(SIGTERM);
    CHECK(job->Wait().status.ToShell() == 143);
  }

  const Bed bed{{"5", "--home", "all"}};
  std::optional<HostJob> job;
  std::string starter;
};

}  // namespace

TEST_CASE(
    "Hosts start hosts over ssh, and nothing is left when hvdrun is "
    "killed",
    "[testbed]") {
  const Bed bed({"5", "--home", "all"});
  const ScopedMark mark;
  HostJob job(bed, {"-np", "5", "-H", "a,b,c,d,e", "--fan-out", "2",
                    "--stop-grace-secs", "1", "env", "TEST_MARK=" + mark.text(),
                    "sh", "-c", kSayFrom + std::string("; exec sleep 300")});
  REQUIRE(job.WaitUntil([&] { return IdleWorkers(mark) == 5; }, 40s));
  REQUIRE(job.WaitUntil([&] { return Count(job.out(), " from ") == 5; }, 20s));
  INFO(job.out());
  CHECK(Count(job.out(), " from 10.77.0.1.") == 2);
  CHECK_FALSE(StarterAmong(job.out()).empty());
  bed.Run("a", {"pkill", "-9", "-x", "hvdrun"});
  job.Wait();
  CHECK(NoneLeft(mark.text(), 5s));
  for (const char* host : {"a", "b", "c", "d", "e"}) {
    CAPTURE(host);
    const std::vector<std::string> look = {
        "sh", "-c", "ps -e -o args= | grep -E '[h]vdrun|[s]sh -T'"};
    CHECK(job.WaitUntil([&] { return bed.Run(host, look).out.empty(); }, 5s));
  }
}

TEST_CASE("A host goes on when the host that has started it is lost",
          "[testbed]") {
  RingInTree t;
  t.bed.PowerOff(t.starter);
  CHECK(t.Until([&] { return HasSteps(t.job->out(), 3, 40); }));
  t.LostOnlyTheStarter();
}

TEST_CASE("A host goes on when the agent that has started it is killed",
          "[testbed]") {
  RingInTree t;
  t.bed.Run(t.starter, {"pkill", "-9", "hvdrun-agent"});
  REQUIRE(t.Until([&] { return HasSteps(t.job->out(), 3, 3); }));
  // The starter comes back; the others go on longer than one that is cut off
  // waits for an answer.
  const std::size_t before = StepsAtSize(t.job->out(), 4).size();
  CHECK(t.Until(
      [&] { return StepsAtSize(t.job->out(), 4).size() > before + 90; }));
  t.LostOnlyTheStarter();
}

}  // namespace hvd::testing
