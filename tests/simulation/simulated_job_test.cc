#include "simulation/simulated_job.h"

#include <catch2/catch.hpp>

#include "driver/explain.h"
#include "simulation/decision_log.h"
#include "tests/simulation/job_rules.h"
#include "tests/support/manual_clock.h"

using namespace std::chrono_literals;

namespace hvd::testing {
namespace {

SimulationOptions Options(const std::string& spec, int np, int min) {
  SimulationOptions options;
  Result<SimulationSpec> parsed = ParseSimulationSpec(spec);
  if (!parsed.ok()) FAIL(parsed.error().message());
  options.spec = std::move(parsed).value();
  options.driver.elastic = true;
  options.driver.workers = np;
  options.driver.min_workers = min;
  return options;
}

struct Simulated {
  std::string log;
  std::string broken;  // the first rule that was; empty: none
  int worlds = 0;
  std::optional<Outcome> outcome;
};

Simulated Simulate(const SimulationOptions& options,
                   DecisionLog::Detail detail = DecisionLog::Detail::kFull) {
  Simulated simulated;
  ManualClock stopwatch;
  JobRules rules(options.driver);
  DecisionLog log(
      detail, [&](const std::string& lines) { simulated.log += lines + '\n'; });
  SimulatedJob job(
      options, stopwatch,
      {.on_decision =
           [&](const Decision& decision) {
             log.Add(decision);
             rules.Watch(decision);
           },
       .on_fault = [&](Duration at,
                       const std::string& text) { log.AddFault(at, text); }});
  simulated.outcome = job.Run();
  log.Finish();
  simulated.broken = rules.broken();
  simulated.worlds = rules.worlds();
  return simulated;
}

bool Has(const Simulated& simulated, const std::string& text) {
  return simulated.log.find(text) != std::string::npos;
}

const std::string kEverything =
    "hosts=6,slots=3,kill=6,hang=2,bad=1,slow=2,leave=2,lose=2,come=3";

}  // namespace

TEST_CASE("a simulated job without faults succeeds in its first world",
          "[simulation][unit]") {
  const Simulated simulated = Simulate(Options("length=60", 8, 8));
  INFO(simulated.log);
  REQUIRE(simulated.outcome);
  CHECK(simulated.outcome->verdict == Verdict::kSucceeded);
  CHECK(simulated.outcome->epoch == Epoch{1});
  CHECK(simulated.outcome->workers.size() == 8);
  CHECK(simulated.outcome->timeline.ended >= 60s);
  CHECK(simulated.broken == "");
}

TEST_CASE("the same seed makes the same decisions", "[simulation][unit]") {
  const auto log = [](const std::string& seed) {
    return Simulate(Options(kEverything + ",seed=" + seed, 18, 4)).log;
  };
  const std::string first = log("3");
  CHECK(log("3") == first);
  CHECK(log("4") != first);
}

TEST_CASE("no simulated job breaks a rule, whatever goes wrong",
          "[simulation][unit]") {
  int worlds = 0;
  for (int seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const Simulated simulated =
        Simulate(Options(kEverything + ",seed=" + std::to_string(seed), 18, 4));
    CHECK(simulated.broken == "");
    REQUIRE(simulated.outcome);
    worlds += simulated.worlds;
  }
  CHECK(worlds > 300);  // something did go wrong
}

TEST_CASE("a simulated worker that is killed is started again",
          "[simulation][unit]") {
  const Simulated simulated = Simulate(Options("length=60,kill@30=h1/0", 8, 4));
  INFO(simulated.log);
  CHECK(Has(simulated, "t=30 fault: kill h1/0\nt=30 exit launch=3 SIGKILL\n"));
  CHECK(Has(simulated, "start launch=9 h1/0"));
  REQUIRE(simulated.outcome);
  CHECK(simulated.outcome->epoch == Epoch{3});  // without it, and with it again
  CHECK(simulated.outcome->failures == 1);
}

TEST_CASE("a simulated worker that hangs is noticed and replaced",
          "[simulation][unit]") {
  const Simulated simulated = Simulate(Options("length=90,hang@30=h1/0", 8, 4));
  INFO(simulated.log);
  CHECK(Has(simulated, "t=60 stopped launch=3\n"));  // --worker-timeout later
  CHECK(Has(simulated, "t=70 exit launch=3 SIGKILL\n"));  // and its grace
  REQUIRE(simulated.outcome);
  CHECK(simulated.outcome->verdict == Verdict::kSucceeded);
}

TEST_CASE("a simulated slot that is bad ends in quarantine",
          "[simulation][unit]") {
  const Simulated simulated = Simulate(Options("bad@30=h1/0", 8, 4));
  INFO(simulated.log);
  CHECK(Has(simulated, "h1/0 is quarantined after 3 failures"));
  REQUIRE(simulated.outcome);
  CHECK(simulated.outcome->workers.size() == 7);
}

TEST_CASE("hosts leave, die and come in a simulated job",
          "[simulation][unit]") {
  const Simulated simulated =
      Simulate(Options("hosts=3,leave@30=h0,lose@60=h1,come@90=h1", 6, 2));
  INFO(simulated.log);
  CHECK(Has(simulated, " is not listed any more"));
  CHECK(Has(simulated, "unavailable: host h1 is gone"));
  REQUIRE(simulated.outcome);
  CHECK(simulated.outcome->verdict == Verdict::kSucceeded);
  CHECK(simulated.outcome->workers.size() == 4);
}

TEST_CASE("a fault without anything to go wrong says so",
          "[simulation][unit]") {
  const Simulated simulated =
      Simulate(Options("lose@30=h1,leave@60=h1,kill@70=h1/0,come@80=h2", 8, 2));
  INFO(simulated.log);
  CHECK(Has(simulated, "t=60 fault: leave h1: it is not there\n"));
  CHECK(Has(simulated, "t=70 fault: kill h1/0: no worker is there\n"));
  CHECK(Has(simulated, "t=80 fault: come h2: it is there\n"));
}

TEST_CASE("a simulated job with too few hosts ends as a true one",
          "[simulation][unit]") {
  const Simulated simulated = Simulate(Options("hosts=1,slots=2", 4, 4));
  REQUIRE(simulated.outcome);
  CHECK(simulated.outcome->verdict == Verdict::kLauncherFailed);
  CHECK(simulated.outcome->reason ==
        "2 of 4 slots there after 30 s (--start-timeout): h0:2");
}

TEST_CASE("a simulated job whose workers never come is given up",
          "[simulation][unit]") {
  CHECK_FALSE(Simulate(Options("start=20000", 8, 8)).outcome);
}

TEST_CASE("a worker that hangs is given up even without --worker-timeout",
          "[simulation][unit]") {
  SimulationOptions options = Options("hang@30=h1/0", 8, 8);
  options.driver.worker_timeout.reset();
  const Simulated simulated = Simulate(options);
  INFO(simulated.log);
  REQUIRE(simulated.outcome);
  CHECK(simulated.outcome->timeline.ended > 930s);  // --elastic-timeout later
  CHECK(simulated.outcome->verdict == Verdict::kSucceeded);
}

}  // namespace hvd::testing
