#include "launcher/launcher_router.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace hvd {
namespace {

// Remembers what it was asked, and answers when it is told to.
class NotedLauncher : public WorkerLauncher {
 public:
  void Launch(LaunchId id, WorkerCommand) override {
    asked.push_back("launch " + Text(id));
  }
  void Signal(LaunchId id, int signo) override {
    asked.push_back("signal " + Text(id) + ' ' + SignalName(signo));
  }
  void Stop(LaunchId id, int, Duration) override {
    asked.push_back("stop " + Text(id));
  }
  void StopLeftovers(Duration, std::function<void()> done) override {
    answers.push_back(std::move(done));
  }
  void Rest(std::function<void()> done) override {
    answers.push_back(std::move(done));
  }
  void Answer() {
    for (const auto& answer : answers) answer();
    answers.clear();
  }

  std::vector<std::string> asked;
  std::vector<std::function<void()>> answers;

 private:
  static std::string Text(LaunchId id) {
    return std::to_string(static_cast<int>(id));
  }
};

struct Fixture {
  Fixture() {
    router.Add("a", here);
    router.Add("localhost", here);
    router.Add("b", there);
  }

  EventLoop loop;
  std::vector<std::string> failures;
  LauncherRouter router{loop,
                        {.on_started = {},
                         .on_start_failed =
                             [this](LaunchId, const Error& error) {
                               failures.push_back(error.message());
                             },
                         .on_exit = {}}};
  NotedLauncher here;
  NotedLauncher there;
};

}  // namespace

TEST_CASE("each worker is its host's launcher's", "[agent]") {
  Fixture t;
  t.router.Launch(LaunchId{1}, {.host = "a"});
  t.router.Launch(LaunchId{2}, {.host = "b"});
  t.router.Signal(LaunchId{2}, SIGUSR1);
  t.router.Stop(LaunchId{1}, SIGTERM, 1s);
  t.router.Signal(LaunchId{9}, SIGUSR1);
  CHECK(t.here.asked == std::vector<std::string>{"launch 1", "stop 1"});
  CHECK(t.there.asked ==
        std::vector<std::string>{"launch 2", "signal 2 SIGUSR1"});
}

TEST_CASE("a host without a launcher starts nothing", "[agent]") {
  Fixture t;
  t.router.Launch(LaunchId{1}, {.host = "c"});
  CHECK(t.failures.empty());
  REQUIRE(t.loop.RunUntil([&] { return !t.failures.empty(); }, 5s));
  CHECK(t.failures.front() == "host c is not there");
}

TEST_CASE("a host that is gone hears nothing more", "[agent]") {
  Fixture t;
  t.router.Launch(LaunchId{2}, {.host = "b"});
  t.router.Remove("b");
  t.router.Add("b", t.there);  // it is back, with another agent
  t.router.Signal(LaunchId{2}, SIGTERM);
  CHECK(t.there.asked == std::vector<std::string>{"launch 2"});
}

TEST_CASE("all is stopped when every launcher has stopped it", "[agent]") {
  Fixture t;
  bool done = false;
  t.router.StopLeftovers(1s, [&] { done = true; });
  CHECK(t.here.answers.size() == 1);  // though it is that of two hosts
  t.here.Answer();
  CHECK_FALSE(done);
  t.there.Answer();
  CHECK(done);
}

TEST_CASE("with no launcher there is nothing to stop", "[agent]") {
  EventLoop loop;
  LauncherRouter router(loop, {});
  bool done = false;
  router.StopLeftovers(1s, [&] { done = true; });
  CHECK(loop.RunUntil([&] { return done; }, 5s));
}

}  // namespace hvd
