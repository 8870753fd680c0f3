#include "simulation/simulation_spec.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace std::chrono_literals;

namespace hvd {
namespace {

SimulationSpec Parse(const std::string& text) {
  Result<SimulationSpec> spec = ParseSimulationSpec(text);
  if (!spec.ok()) FAIL(spec.error().message());
  return std::move(spec).value();
}

std::string ErrorOf(const std::string& text) {
  const Result<SimulationSpec> spec = ParseSimulationSpec(text);
  return spec.ok() ? "" : spec.error().message();
}

}  // namespace

TEST_CASE("a simulation has hosts though nothing is asked for",
          "[simulation][unit]") {
  const SimulationSpec spec = Parse("");
  CHECK(spec.hosts == 4);
  CHECK(spec.slots == 2);
  CHECK(spec.faults.empty());
}

TEST_CASE("every item of a simulation reaches its value",
          "[simulation][unit]") {
  const SimulationSpec spec =
      Parse("hosts=512,slots=8,seed=7,length=90,start=0.5,commit=3");
  CHECK(spec.hosts == 512);
  CHECK(spec.slots == 8);
  CHECK(spec.seed == 7);
  CHECK(spec.length == 90s);
  CHECK(spec.start == 500ms);
  CHECK(spec.commit == 3s);
}

TEST_CASE("faults come in time, at the place that was given",
          "[simulation][unit]") {
  const auto faults = Parse("kill@90=h3/1,lose@20.5=h2,come@30=h9").faults;
  REQUIRE(faults.size() == 3);
  CHECK(faults[0].kind == FaultKind::kLose);
  CHECK(faults[0].at == 20'500ms);
  CHECK(faults[0].where == "h2");
  CHECK(faults[1].kind == FaultKind::kCome);
  CHECK(faults[1].where == "h9");
  CHECK(faults[2].kind == FaultKind::kKill);
  CHECK(faults[2].where == "h3/1");
}

TEST_CASE("a count of faults spreads them over the job as the seed says",
          "[simulation][unit]") {
  const auto moments = [](const std::string& text) {
    std::vector<Duration> at;
    for (const Fault& fault : Parse(text).faults) at.push_back(fault.at);
    return at;
  };
  const auto first = moments("kill=20,length=60,seed=1");
  REQUIRE(first.size() == 20);
  CHECK(first.back() < 60s);
  CHECK(std::is_sorted(first.begin(), first.end()));
  CHECK(moments("seed=1,length=60,kill=20") == first);
  CHECK(moments("kill=20,length=60,seed=2") != first);
}

TEST_CASE("a simulation that makes no sense is refused with its item",
          "[simulation][unit]") {
  CHECK(ErrorOf("host=3") == "host=3: there is no such item");
  CHECK(ErrorOf("hosts") == "hosts: must be a whole number from 1 to 65535");
  CHECK(ErrorOf("slots=0") ==
        "slots=0: must be a whole number from 1 to 65535");
  CHECK(ErrorOf("hosts@3=2") == "hosts@3=2: there is no such item");
  CHECK(ErrorOf("seed=-1") == "seed=-1: must be a whole number");
  CHECK(ErrorOf("length=0") == "length=0: must be more than 0 seconds");
  CHECK(ErrorOf("start=soon") ==
        "start=soon: must be a number of seconds, like 30 or 0.5, got "
        "\"soon\"");
  CHECK(ErrorOf("hosts=300,slots=300") ==
        "hosts= times slots= must be at most 65535, got 300 times 300");
}

TEST_CASE("a fault that makes no sense is refused with its item",
          "[simulation][unit]") {
  CHECK(ErrorOf("kill") == "kill: must be a whole number from 1 to 10000");
  CHECK(ErrorOf("kill=h3/1") ==
        "kill=h3/1: must be a whole number from 1 to 10000");
  CHECK(ErrorOf("kill@x") ==
        "kill@x: SECOND must be a number of seconds, like 30 or 0.5, got "
        "\"x\"");
  CHECK(ErrorOf("kill@600") ==
        "kill@600: SECOND must be less than length=, which is 600 s");
  for (const std::string where :
       {"", "h3", "h4/0", "h3/2", "h3/", "/1", "3/1", "h/1", "h3/1/1"}) {
    CHECK(ErrorOf("kill@9=" + where) ==
          "kill@9=" + where + ": WHERE must be a slot, h0/0 to h3/1");
  }
  for (const std::string where : {"", "h4", "h3/1", "a", "h-1"}) {
    CHECK(ErrorOf("lose@9=" + where) ==
          "lose@9=" + where + ": WHERE must be a host, h0 to h3");
  }
}

}  // namespace hvd
