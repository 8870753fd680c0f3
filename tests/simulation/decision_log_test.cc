#include "simulation/decision_log.h"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;

namespace hvd {
namespace {

class Log {
 public:
  explicit Log(DecisionLog::Detail detail)
      : log_(detail,
             [this](const std::string& lines) { text_ += lines + '\n'; }) {}

  void Add(Duration at, const Event& event,
           const std::vector<Action>& actions) {
    log_.Add({at, event, actions, {}});
  }
  std::string Finish() {
    log_.Finish();
    return text_;
  }
  DecisionLog& log() { return log_; }

 private:
  std::string text_;
  DecisionLog log_;
};

const Event kStarted = WorkerStarted{LaunchId{1}, 7};
const Event kReady = WorkerReady{{"a", 0}, Epoch{}};
const Event kExit = WorkerExited{LaunchId{1}, {}};

}  // namespace

TEST_CASE("events on which nothing is decided are counted",
          "[simulation][unit]") {
  Log log(DecisionLog::Detail::kShort);
  log.Add(1s, kStarted, {});
  log.Add(2s, kReady, {});
  log.Add(2s, Tick{}, {});
  log.Add(2500ms, kStarted, {});
  log.Add(3s, kExit, {Say{"done"}});
  log.Add(4s, kReady, {});
  CHECK(log.Finish() ==
        "t=1 to 2.5 1 ready, 2 started\n"
        "t=3 exit launch=1 code=0\n  say: done\n"
        "t=4 1 ready\n");
}

TEST_CASE("a fault stands after what was before it", "[simulation][unit]") {
  Log log(DecisionLog::Detail::kShort);
  log.Add(1s, kStarted, {});
  log.log().AddFault(2s, "kill a/0");
  CHECK(log.Finish() == "t=1 1 started\nt=2 fault: kill a/0\n");
}

TEST_CASE("thousands of actions stay a few lines", "[simulation][unit]") {
  HostList hosts;
  PublishWorld publish{{Epoch{1}, {}}};
  std::vector<Action> actions;
  for (int host = 0; host < 100; ++host) {
    hosts.push_back({"h" + std::to_string(host), 8});
  }
  for (int rank = 0; rank < 800; ++rank) {
    const WorkerId worker{"h" + std::to_string(rank / 8), rank % 8};
    publish.world.workers.push_back(worker);
    actions.emplace_back(StartWorker{LaunchId{rank + 1}, worker, rank});
  }
  actions.insert(actions.begin(), publish);
  Log log(DecisionLog::Detail::kShort);
  log.Add(0s, HostsDiscovered{hosts}, actions);
  CHECK(log.Finish() ==
        "t=0 hosts 100 hosts, 800 slots\n"
        "  publish epoch=1 800 workers\n"
        "  start launch=1 h0/0 rank=0\n"
        "  ... 798 more\n"
        "  start launch=800 h99/7 rank=799\n");
}

TEST_CASE("a full log has every event and every action", "[simulation][unit]") {
  Log log(DecisionLog::Detail::kFull);
  log.Add(1s, kStarted, {});
  log.Add(2s, Tick{}, {});
  log.Add(3s, kExit, {Say{"done"}});
  CHECK(log.Finish() ==
        "t=1 started launch=1 pid=7\n"
        "t=3 exit launch=1 code=0\n  say: done\n");
}

}  // namespace hvd
