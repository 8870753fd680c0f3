#include "cmd/simulate.h"

#include <catch2/catch.hpp>

#include "tests/support/manual_clock.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

Result<Settings> Parse(const std::vector<std::string>& words) {
  return ParseSettings(words, {}, [](const std::string& path) {
    return Error{ErrorCode::kNotFound, path};
  });
}

std::string ErrorOf(const std::vector<std::string>& words) {
  const Result<Settings> settings = Parse(words);
  return settings.ok() ? "" : settings.error().message();
}

struct Printed {
  std::string text;
  int code = 0;
};

Printed Run(const std::vector<std::string>& words) {
  const Result<Settings> settings = Parse(words);
  if (!settings.ok()) FAIL(settings.error().message());
  Printed printed;
  printed.code =
      Simulate(settings.value(), testing::ManualClock(),
               [&](const std::string& lines) { printed.text += lines + '\n'; });
  return printed;
}

}  // namespace

TEST_CASE("a simulation needs no command and takes the job's flags",
          "[cmd][unit]") {
  const Result<Settings> settings =
      Parse({"--simulate", "hosts=3,slots=4", "--min-np", "2"});
  REQUIRE(settings.ok());
  CHECK(settings.value().mode == RunMode::kSimulate);
  CHECK(settings.value().np == 12);
  CHECK(settings.value().elastic);
  CHECK(settings.value().elasticity.min_np == 2);
  CHECK(Parse({"--simulate", "hosts=3", "-np", "2"}).value().np == 2);
}

TEST_CASE("a simulation is refused beside what says which hosts there are",
          "[cmd][unit]") {
  CHECK(ErrorOf({"--simulate", "hosts=2", "-H", "a:2"}) ==
        "-H and --simulate exclude each other");
  CHECK(ErrorOf({"--simulate", "hosts=2", "--watch-hosts", "f"}) ==
        "--watch-hosts and --simulate exclude each other");
  CHECK(ErrorOf({"--simulate", "hosts=2", "-np", "-2"}) ==
        "-np -2 runs workers on this machine, --simulate runs none");
  CHECK(ErrorOf({"--simulate", "hosts=0"}) ==
        "--simulate: hosts=0: must be a whole number from 1 to 65535");
}

TEST_CASE("a simulation prints decisions, times, resets and the exit code",
          "[cmd][unit]") {
  const Printed printed =
      Run({"--simulate", "kill@30=h1/0,length=60", "--min-np", "4"});
  INFO(printed.text);
  CHECK(printed.code == 0);
  CHECK(printed.text.find("t=30 fault: kill h1/0\n") != std::string::npos);
  CHECK(printed.text.find("\nall ") != std::string::npos);
  CHECK(printed.text.find(", epoch 3, 1 failure, 2 resets, from the cause to "
                          "a whole world ") != std::string::npos);
  CHECK(printed.text.ends_with("exit code 0: all 8 workers exited with 0\n"));
}

TEST_CASE("a simulation has the exit code of its job", "[cmd][unit]") {
  const Printed printed = Run({"--simulate", "bad@0=h0/0,hosts=1"});
  INFO(printed.text);
  CHECK(printed.code == 1);
  CHECK(printed.text.find("\nexit code 1: ") != std::string::npos);
}

TEST_CASE("a simulated job that does not end is told and exits with 125",
          "[cmd][unit]") {
  const Printed printed = Run({"--simulate", "start=20000"});
  CHECK(printed.code == 125);
  CHECK(printed.text.find("the job did not end") != std::string::npos);
}

}  // namespace hvd
