#include "simulation/decision_times.h"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;

namespace hvd {

TEST_CASE("the table has median, 99 percent and longest of each kind",
          "[simulation][unit]") {
  DecisionTimes times;
  const std::vector<Action> none;
  const Event tick = Tick{};
  for (int i = 1; i <= 100; ++i) {
    times.Add({std::chrono::seconds(i), tick, none, i * 10us});
  }
  times.Add({200s, HostsDiscovered{}, none, 3ms});
  CHECK(times.Table() ==
        "decided on           count       median          99%      longest\n"
        "hosts                    1     3.000 ms     3.000 ms     3.000 ms\n"
        "tick                   100     0.500 ms     0.990 ms     1.000 ms\n"
        "all                    101     0.510 ms     1.000 ms     3.000 ms\n"
        "longest: hosts at t=200");
}

TEST_CASE("the table of nothing is a sentence", "[simulation][unit]") {
  CHECK(DecisionTimes().Table() == "nothing was decided");
}

}  // namespace hvd
