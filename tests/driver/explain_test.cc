#include "driver/explain.h"

#include <catch2/catch.hpp>
#include <csignal>

using namespace std::chrono_literals;

namespace hvd {

TEST_CASE("Explain writes every event on one line", "[driver][unit]") {
  CHECK(ToText(Event{HostsDiscovered{{{"a", 2}, {"::1", 1}}}}) ==
        "hosts a:2 [::1]:1");
  CHECK(ToText(Event{WorkerStarted{LaunchId{3}, 17}}) ==
        "started launch=3 pid=17");
  CHECK(ToText(Event{WorkerStartFailed{
            LaunchId{3}, Error{ErrorCode::kNotFound, "no ./x"}}}) ==
        "start-failed launch=3 not-found: no ./x");
  CHECK(ToText(Event{WorkerHeard{{"a", 2}, Epoch{1}, 17}}) ==
        "heard a/2 epoch=1 operations=17");
  CHECK(ToText(Event{WorkerMisplaced{{"a", 2}}}) == "misplaced a/2");
  CHECK(ToText(Event{WorkerBlames{{"a", 2}, Epoch{1}, 3}}) ==
        "blame a/2 epoch=1 rank=3");
  CHECK(ToText(Event{WorkerReady{{"a", 2}, Epoch{1}}}) == "ready a/2 after=1");
  CHECK(ToText(Event{WorkerExited{LaunchId{3}, {7, 0}}}) ==
        "exit launch=3 code=7");
  CHECK(ToText(Event{WorkerExited{LaunchId{3}, {0, SIGKILL}}}) ==
        "exit launch=3 SIGKILL");
  CHECK(ToText(Event{SignalReceived{SIGHUP}}) == "signal SIGHUP");
  CHECK(ToText(Event{LauncherLost{Error{ErrorCode::kInternal, "gone"}}}) ==
        "launcher-lost: gone");
  CHECK(ToText(Event{Tick{}}) == "tick");
}

TEST_CASE("Explain writes every action on one line", "[driver][unit]") {
  CHECK(ToText(Action{PublishWorld{{Epoch{2}, {{"a", 0}, {"b", 0}}}}}) ==
        "publish epoch=2 a/0=0 b/0=1");
  CHECK(ToText(Action{StartWorker{LaunchId{1}, {"a", 0}, 0}}) ==
        "start launch=1 a/0 rank=0");
  CHECK(ToText(Action{StopWorker{LaunchId{1}, SIGTERM, 10s}}) ==
        "stop launch=1 SIGTERM grace=10 s");
  CHECK(ToText(Action{NotifyLoss{Epoch{1}, 2, "rank 2 left"}}) ==
        "notify epoch=1 rank=2: rank 2 left");
  CHECK(ToText(Action{Say{"waiting"}}) == "say: waiting");
  Outcome outcome;
  outcome.verdict = Verdict::kSucceeded;
  CHECK(ToText(Action{EndJob{outcome}}) == "end succeeded");
}

TEST_CASE("Explain puts the actions below their event", "[driver][unit]") {
  CHECK(Explain(1500ms, Event{SignalReceived{SIGINT}}, {Say{"a"}, Say{"b"}}) ==
        "t=1.5 signal SIGINT\n  say: a\n  say: b");
}

TEST_CASE("Explain is silent about a tick that changed nothing",
          "[driver][unit]") {
  CHECK(Explain(1s, Event{Tick{}}, {}).empty());
  CHECK(Explain(1s, Event{Tick{}}, {Say{"a"}}) == "t=1 tick\n  say: a");
}

}  // namespace hvd
