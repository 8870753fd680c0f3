// Whatever can happen to an elastic job, at random and in quick succession: it
// ends with 0, every sum was right, and nothing is left.
#include "tests/e2e/chaos.h"

#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto kSettleLimit = 200s;

int Events() { return InSoak() ? 500 : 30; }
// More than can be done, at 100 a second, while the events happen.
int Steps() { return InSoak() ? 12'000 : 1'500; }

// The hosts there are, as files in a directory: what the script prints, how it
// fails, or that it hangs. Each change is whole at once.
class Hosts {
 public:
  std::string script() const { return ". " + directory_.path() + "/say"; }
  void List(const std::string& hosts) { Say("printf '" + hosts + "'"); }
  void Fail() { Say("exit 3"); }
  void Hang() { Say("sleep 600"); }

 private:
  void Say(const std::string& command) {
    const std::string path = directory_.path() + "/say";
    std::ofstream(path + ".new") << command << '\n';
    std::filesystem::rename(path + ".new", path);
  }

  TemporaryDirectory directory_;
};

class Chaos {
 public:
  Chaos(std::uint32_t seed, const ScopedMark& mark)
      : dice_(seed), job_(Start(), Marked(mark)) {}

  void Stir(int events) {
    for (int i = 0; i < events; ++i) {
      AwaitProgress(job_, dice_, 500ms);
      done_ += Happen() + "; ";
    }
    hosts_.List("127.0.0.1:2\\n127.0.0.2:1\\n");
  }

  ProgramResult Finish() { return job_.Wait(kSettleLimit); }
  pid_t pid() const { return job_.pid(); }
  bool running() { return job_.running(); }
  const std::string& done() const { return done_; }
  const std::string& err() const { return job_.err(); }

 private:
  std::vector<std::string> Start() {
    hosts_.List("127.0.0.1:2\\n127.0.0.2:1\\n");
    return HvdrunCommand({"-np",
                          "3",
                          "--min-np",
                          "1",
                          "--max-np",
                          "6",
                          "--host-discovery-script",
                          hosts_.script(),
                          "--discovery-interval",
                          "0.05",
                          "--discovery-timeout",
                          "0.5",
                          "--collective-timeout",
                          "1",
                          "--worker-timeout",
                          "1",
                          "--stop-grace-secs",
                          "0.3",
                          "--slot-failures",
                          "10000",
                          "--max-restarts",
                          "10000",
                          "--blacklist-cooldown-range",
                          "0.01",
                          "0.05",
                          Bin("ring"),
                          "--rate",
                          "100",
                          "--steps",
                          std::to_string(Steps())});
  }

  std::string Happen() {
    switch (dice_.Pick(8)) {
      case 0:
      case 1:
        return "kill " + SignalOne(SIGKILL);
      case 2:
        return "stop " + SignalOne(SIGSTOP);
      case 3:
        return "term " + SignalOne(SIGTERM);
      case 4:
        hosts_.List("127.0.0.1:2\\n127.0.0.2:2\\n127.0.0.3:1\\n");
        return "grow";
      case 5:
        hosts_.List("127.0.0.1:1\\n127.0.0.3:1\\n");
        return "change";
      case 6:
        hosts_.Fail();
        return "script fails";
      default:
        hosts_.Hang();
        return "script hangs";
    }
  }

  // The workers are the keeper's children.
  std::string SignalOne(int signo) {
    const auto keeper = ChildNamed(job_.pid(), "hvdrun-keeper");
    const std::vector<pid_t> workers =
        keeper ? ChildrenOf(*keeper) : std::vector<pid_t>{};
    if (workers.empty()) return "nobody";
    const pid_t pid = dice_.PickOf(workers);
    ::kill(pid, signo);
    return std::to_string(pid);
  }

  Dice dice_;
  Hosts hosts_;
  Program job_;
  std::string done_;
};

}  // namespace

TEST_CASE("an elastic job survives whatever happens to it", "[e2e]") {
  const std::uint32_t seed = ChooseSeed();
  const ScopedMark mark;
  Chaos chaos(seed, mark);
  chaos.Stir(Events());
  CAPTURE(seed, chaos.done());
  REQUIRE(chaos.running());
  const std::size_t memory = PeakMemoryKb(chaos.pid());
  CheckSurvived(chaos.Finish(), std::to_string(Steps()), mark);
  CHECK(memory < 96'000);  // a sanitizer's part included
}

}  // namespace hvd::testing
