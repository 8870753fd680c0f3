// Whatever can happen to the hosts of an elastic job, at random and in quick
// succession: it ends with 0, every sum was right, and nothing is left.
#include <signal.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/e2e/chaos.h"
#include "tests/e2e/host_job.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto kSettleLimit = 200s;

int Events() { return InSoak() ? 200 : 12; }
// More than can be done, at 50 a second, while the events happen.
std::string Steps() { return InSoak() ? "6000" : "900"; }

// hvdrun's own host is spared: without it there is no job.
class Chaos {
 public:
  Chaos(std::uint32_t seed, const ScopedMark& mark)
      : dice_(seed),
        mark_(mark),
        bed_({"4", "--share", lists_.path()}),
        job_(bed_, Start()) {}

  void Stir(int events) {
    for (int i = 0; i < events; ++i) {
      AwaitProgress(job_, dice_, 1500ms);
      done_ += Happen() + "; ";
    }
    for (Host& host : others_) Restore(host);
    List("a:2\\nb:1\\nc:2\\n");
  }

  ProgramResult Finish() { return job_.Wait(kSettleLimit); }
  bool running() { return job_.running(); }
  const std::string& done() const { return done_; }
  const std::string& out() { return job_.out(); }

 private:
  enum class State { kWell, kCut, kOff, kFrozen };
  struct Host {
    std::string name;
    State state = State::kWell;
  };

  std::vector<std::string> Start() {
    List("a:2\\nb:1\\nc:2\\n");
    return {"-np",
            "3",
            "--min-np",
            "1",
            "--max-np",
            "6",
            "--host-discovery-script",
            ". " + lists_.path() + "/say",
            "--discovery-interval",
            "0.1",
            "--host-timeout",
            "1",
            "--collective-timeout",
            "3",
            "--worker-timeout",
            "3",
            "--stop-grace-secs",
            "0.3",
            "--slot-failures",
            "10000",
            "--max-restarts",
            "10000",
            "--blacklist-cooldown-range",
            "0.01",
            "0.05",
            "env",
            "TEST_MARK=" + mark_.text(),
            Bin("ring"),
            "--rate",
            "50",
            "--steps",
            Steps()};
  }

  // Each change of the list is whole at once.
  void List(const std::string& hosts) {
    const std::string path = lists_.path() + "/say";
    std::ofstream(path + ".new") << "printf '" << hosts << "'\n";
    std::filesystem::rename(path + ".new", path);
  }

  std::string Happen() {
    Host& host = dice_.PickOf(others_);
    if (host.state != State::kWell) {
      Restore(host);
      return host.name + " is well again";
    }
    switch (dice_.Pick(8)) {
      case 0:
        bed_.Cut(host.name);
        host.state = State::kCut;
        return "cut " + host.name;
      case 1:
        bed_.PowerOff(host.name);
        host.state = State::kOff;
        return host.name + " off";
      case 2:
        bed_.Freeze(host.name);
        host.state = State::kFrozen;
        return "freeze " + host.name;
      case 3:
        bed_.Run(host.name, {"pkill", "-9", "hvdrun-agent"});
        return "kill agent of " + host.name;
      case 4:
        List("a:1\\nb:2\\nc:1\\nd:2\\n");
        return "grow";
      case 5:
        List("a:1\\nd:1\\n");
        return "change";
      case 6:
        return "stop " + SignalOne(SIGSTOP);
      default:
        return "kill " + SignalOne(SIGKILL);
    }
  }

  void Restore(Host& host) {
    if (host.state == State::kCut) bed_.Mend(host.name);
    if (host.state == State::kOff) bed_.PowerOn(host.name);
    if (host.state == State::kFrozen) bed_.Thaw(host.name);
    host.state = State::kWell;
  }

  std::string SignalOne(int signo) {
    std::vector<pid_t> workers;
    for (const pid_t pid : ProcessesWith(mark_.text())) {
      const std::string comm =
          ReadFile("/proc/" + std::to_string(pid) + "/comm");
      if (comm == "ring\n") workers.push_back(pid);
    }
    if (workers.empty()) return "nobody";
    const pid_t pid = dice_.PickOf(workers);
    ::kill(pid, signo);
    return std::to_string(pid);
  }

  Dice dice_;
  const ScopedMark& mark_;
  TemporaryDirectory lists_;
  Bed bed_;
  std::array<Host, 3> others_{{{"b"}, {"c"}, {"d"}}};
  HostJob job_;
  std::string done_;
};

}  // namespace

TEST_CASE("An elastic job survives whatever happens to its hosts",
          "[testbed]") {
  const std::uint32_t seed = ChooseSeed();
  const ScopedMark mark;
  Chaos chaos(seed, mark);
  chaos.Stir(Events());
  CAPTURE(seed, chaos.done());
  INFO(chaos.out());
  REQUIRE(chaos.running());
  CheckSurvived(chaos.Finish(), Steps(), mark);
}

}  // namespace hvd::testing
