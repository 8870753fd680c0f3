#include "driver/elastic_driver.h"

#include <catch2/catch.hpp>
#include <csignal>

using namespace std::chrono_literals;

namespace hvd {
namespace {

constexpr Instant kStart{};

template <class T>
std::vector<T> Only(const std::vector<Action>& actions) {
  std::vector<T> out;
  for (const Action& action : actions) {
    if (const T* wanted = std::get_if<T>(&action)) out.push_back(*wanted);
  }
  return out;
}

// Started, not joined, one host "a".
ElasticDriver Running(const DriverOptions& options) {
  ElasticDriver driver(options, kStart);
  driver.On(HostsDiscovered{{{"a", options.workers}}}, kStart);
  for (int i = 1; i <= options.workers; ++i) {
    driver.On(WorkerStarted{LaunchId{i}, 100 + i}, kStart + 10ms);
  }
  return driver;
}

Outcome OutcomeOf(const std::vector<Action>& actions) {
  const auto ends = Only<EndJob>(actions);
  REQUIRE(ends.size() == 1);
  return ends[0].outcome;
}

}  // namespace

TEST_CASE("ElasticDriver publishes the world before it starts a worker",
          "[driver][unit]") {
  ElasticDriver driver({.workers = 2}, kStart);
  const auto actions = driver.On(HostsDiscovered{{{"a", 2}}}, kStart);
  REQUIRE(actions.size() == 3);
  CHECK(std::holds_alternative<PublishWorld>(actions[0]));
  CHECK(std::holds_alternative<StartWorker>(actions[1]));
  CHECK(std::holds_alternative<StartWorker>(actions[2]));
}

TEST_CASE("ElasticDriver waits for nothing once every worker has joined",
          "[driver][unit]") {
  ElasticDriver driver = Running({.workers = 2});
  CHECK_FALSE(driver.NextDeadline());
  driver.On(WorkerReady{{"a", 0}, Epoch{}}, kStart + 1s);
  CHECK(driver.NextDeadline() == kStart + 2s);
  driver.On(WorkerReady{{"a", 1}, Epoch{}}, kStart + 2s);
  CHECK_FALSE(driver.NextDeadline());
}

TEST_CASE("ElasticDriver reports when each phase of a job was over",
          "[driver][unit]") {
  ElasticDriver driver({.workers = 1}, kStart);
  driver.On(HostsDiscovered{{{"a", 1}}}, kStart + 5ms);
  driver.On(WorkerStarted{LaunchId{1}, 42}, kStart + 8ms);
  driver.On(WorkerReady{{"a", 0}, Epoch{}}, kStart + 30ms);
  const Outcome outcome =
      OutcomeOf(driver.On(WorkerExited{LaunchId{1}, {}}, kStart + 2s));
  CHECK(outcome.verdict == Verdict::kSucceeded);
  CHECK(outcome.epoch == Epoch{1});
  CHECK(outcome.timeline.published == 5ms);
  CHECK(outcome.timeline.all_started == 8ms);
  CHECK(outcome.timeline.all_joined == 30ms);
  CHECK(outcome.timeline.ended == 2s);
  REQUIRE(outcome.workers.size() == 1);
  CHECK(outcome.workers[0].pid == 42);
  CHECK(outcome.workers[0].started_at == 8ms);
  CHECK(outcome.workers[0].joined_at == 30ms);
  CHECK(outcome.workers[0].ended_at == 2s);
}

TEST_CASE("ElasticDriver hears of a worker before the launcher tells of it",
          "[driver][unit]") {
  // Two channels, no order between them.
  ElasticDriver driver({.workers = 1}, kStart);
  driver.On(HostsDiscovered{{{"a", 1}}}, kStart);
  driver.On(WorkerReady{{"a", 0}, Epoch{}}, kStart + 1ms);
  driver.On(WorkerStarted{LaunchId{1}, 42}, kStart + 2ms);
  const Outcome outcome =
      OutcomeOf(driver.On(WorkerExited{LaunchId{1}, {}}, kStart + 1s));
  CHECK(outcome.verdict == Verdict::kSucceeded);
  CHECK(outcome.workers[0].joined_at == 1ms);
}

TEST_CASE("ElasticDriver gives the code of a start failure its own verdict",
          "[driver][unit]") {
  const auto [code, verdict] = GENERATE(table<ErrorCode, Verdict>({
      {ErrorCode::kNotFound, Verdict::kNotFound},
      {ErrorCode::kInvalidArgument, Verdict::kCannotRun},
      {ErrorCode::kUnavailable, Verdict::kLauncherFailed},
      {ErrorCode::kTimeout, Verdict::kLauncherFailed},
      {ErrorCode::kCancelled, Verdict::kLauncherFailed},
      {ErrorCode::kInternal, Verdict::kLauncherFailed},
  }));
  ElasticDriver driver({.workers = 1}, kStart);
  driver.On(HostsDiscovered{{{"a", 1}}}, kStart);
  const Outcome outcome = OutcomeOf(driver.On(
      WorkerStartFailed{LaunchId{1}, Error{code, "no"}.WithHint("do")},
      kStart));
  CHECK(outcome.verdict == verdict);
  CHECK(outcome.reason == "no");
  CHECK(outcome.hint == "do");
}

TEST_CASE("ElasticDriver keeps every fatal signal and exit code as it was",
          "[driver][unit]") {
  for (int signo = 0; signo <= SIGSYS; ++signo) {
    for (int code = signo == 0 ? 1 : 0; code <= (signo == 0 ? 255 : 0);
         ++code) {
      ElasticDriver driver = Running({.workers = 1});
      const ExitStatus status{code, signo};
      const Outcome outcome =
          OutcomeOf(driver.On(WorkerExited{LaunchId{1}, status}, kStart + 1s));
      CAPTURE(signo, code);
      CHECK(outcome.verdict == Verdict::kWorkerFailed);
      CHECK(outcome.workers[0].status == status);
    }
  }
}

TEST_CASE("ElasticDriver stops nobody who has ended already",
          "[driver][unit]") {
  ElasticDriver driver = Running({.workers = 3});
  driver.On(WorkerExited{LaunchId{1}, {}}, kStart + 1s);
  const auto stops = Only<StopWorker>(
      driver.On(WorkerExited{LaunchId{2}, {3, 0}}, kStart + 2s));
  REQUIRE(stops.size() == 1);
  CHECK(stops[0].launch == LaunchId{3});
  CHECK(stops[0].first_signal == SIGTERM);
}

TEST_CASE("ElasticDriver counts no exit after a stop as success",
          "[driver][unit]") {
  // Workers that save their state on TERM and exit with 0 were still stopped.
  ElasticDriver driver = Running({.workers = 2});
  driver.On(SignalReceived{SIGTERM}, kStart + 1s);
  driver.On(WorkerExited{LaunchId{1}, {}}, kStart + 2s);
  const Outcome outcome =
      OutcomeOf(driver.On(WorkerExited{LaunchId{2}, {}}, kStart + 2s));
  CHECK(outcome.verdict == Verdict::kSignalled);
  CHECK(outcome.signo == SIGTERM);
}

TEST_CASE("ElasticDriver ends a silent job when its time is up",
          "[driver][unit]") {
  ElasticDriver driver = Running({.workers = 1, .job_timeout = 500ms});
  CHECK(driver.NextDeadline() == kStart + 500ms);
  CHECK(driver.On(Tick{}, kStart + 499ms).empty());
  CHECK(Only<StopWorker>(driver.On(Tick{}, kStart + 500ms)).size() == 1);
}

TEST_CASE("ElasticDriver does nothing after the end", "[driver][unit]") {
  ElasticDriver driver({.workers = 2}, kStart);
  REQUIRE(Only<EndJob>(driver.On(SignalReceived{SIGINT}, kStart)).size() == 1);
  CHECK(driver.ended());
  CHECK(driver.On(HostsDiscovered{{{"a", 2}}}, kStart + 1s).empty());
  CHECK(driver.On(SignalReceived{SIGINT}, kStart + 2s).empty());
  CHECK_FALSE(driver.NextDeadline());
}

}  // namespace hvd
