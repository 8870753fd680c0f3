#include <catch2/catch.hpp>

#include "cmd/settings.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

using Words = std::vector<std::string>;

Result<Settings> Read(const Words& words) {
  return ParseSettings(words, {}, [](const std::string& path) {
    return Result<std::string>(Error{ErrorCode::kNotFound, path});
  });
}

Settings Parse(const Words& words) {
  const Result<Settings> settings = Read(words);
  if (!settings.ok()) FAIL(settings.error().message());
  return settings.value();
}

Error ErrorOf(const Words& words) {
  const Result<Settings> settings = Read(words);
  REQUIRE_FALSE(settings.ok());
  return settings.error();
}

}  // namespace

TEST_CASE("a job is elastic when a flag of that kind says so", "[cmd][unit]") {
  CHECK_FALSE(Parse({"-np", "2", "x"}).elastic);
  CHECK(Parse({"-np", "2", "--min-np", "1", "x"}).elastic);
  CHECK(Parse({"-np", "2", "--max-np", "3", "x"}).elasticity.min_np == 2);
  const Settings settings =
      Parse({"--min-np", "2", "--host-discovery-script", "./hosts.sh", "x"});
  CHECK(settings.elastic);
  CHECK(settings.np == 2);
  CHECK(settings.hosts.empty());
  CHECK(settings.elasticity.script == "./hosts.sh");
}

TEST_CASE("every elastic flag reaches its setting", "[cmd][unit]") {
  const ElasticSettings e = Parse({"-np",
                                   "4",
                                   "--min-np",
                                   "2",
                                   "--max-np",
                                   "8",
                                   "--watch-hosts",
                                   "hosts",
                                   "--slots-per-host",
                                   "2",
                                   "--min-hosts",
                                   "2",
                                   "--discovery-interval",
                                   "0.5",
                                   "--discovery-timeout",
                                   "7",
                                   "--elastic-timeout",
                                   "60",
                                   "--worker-timeout",
                                   "0",
                                   "--reset-limit",
                                   "5",
                                   "--elastic-mode",
                                   "restart",
                                   "--max-restarts",
                                   "6",
                                   "--restart-window",
                                   "9",
                                   "--slot-failures",
                                   "4",
                                   "--blacklist-cooldown-range",
                                   "2",
                                   "8",
                                   "x"})
                                .elasticity;
  CHECK(e.min_np == 2);
  CHECK(e.max_np == 8);
  CHECK(e.watched_file == "hosts");
  CHECK(e.slots_per_host == 2);
  CHECK(e.min_hosts == 2);
  CHECK(e.discovery_interval == 500ms);
  CHECK(e.discovery_timeout == 7s);
  CHECK(e.elastic_timeout == 60s);
  CHECK_FALSE(e.worker_timeout);
  CHECK(e.reset_limit == 5);
  CHECK(e.mode == ElasticMode::kRestart);
  CHECK(e.max_restarts == 6);
  CHECK(e.restart_window == 9s);
  CHECK(e.slot_failures == 4);
  REQUIRE(e.cooldown);
  CHECK(e.cooldown->first == 2s);
  CHECK(e.cooldown->longest == 8s);
}

TEST_CASE("a job to which hosts can be pushed is elastic", "[cmd][unit]") {
  const Settings here = Parse({"-np", "2", "--control-file", "f", "x"});
  CHECK(here.elastic);
  CHECK(here.elasticity.min_np == 2);
  CHECK(here.elasticity.control_file == "f");
  CHECK(here.hosts == HostList{{"localhost", 2}});
  CHECK(here.elasticity.hosts_may_change());
  CHECK_FALSE(here.elasticity.discovers());
  CHECK(Parse({"-H", "a:2,b:1", "--control-file", "f", "x"}).hosts ==
        HostList{{"a", 2}, {"b", 1}});
  // Beside a script, which says what there is first.
  const Settings both = Parse(
      {"-np", "2", "--control-file", "f", "--host-discovery-script", "s", "x"});
  CHECK(both.hosts.empty());
  CHECK(both.elasticity.discovers());
  CHECK(ErrorOf({"--control-file", "f", "x"}).message() ==
        "-np is missing: how many workers?");
  CHECK(ErrorOf({"-np", "1", "--control-file", "", "x"}).message() ==
        "--control-file must not be empty, got \"\"");
}

TEST_CASE("elastic flags are checked against each other", "[cmd][unit]") {
  CHECK(ErrorOf({"-np", "2", "--min-np", "3", "x"}).message() ==
        "--min-np 3 is more than -np 2");
  CHECK(ErrorOf({"-np", "4", "--max-np", "3", "x"}).message() ==
        "--max-np 3 is less than -np 4");
  CHECK(ErrorOf({"-np", "2", "--host-discovery-script", "s", "-H", "a:2", "x"})
            .message() == "-H and --host-discovery-script exclude each other");
  CHECK(ErrorOf({"-np", "2", "--host-discovery-script", "s", "--watch-hosts",
                 "f", "x"})
            .message() ==
        "--host-discovery-script and --watch-hosts exclude each other");
  CHECK(ErrorOf({"--host-discovery-script", "s", "x"}).message() ==
        "-np is missing: how many workers shall it start with?");
  // Horovod PR#3319: bad ranges were found out in the first poll.
  for (const char* range : {"8 2", "0 5", "5", "a b"}) {
    CAPTURE(range);
    CHECK(ErrorOf({"-np", "1",
                   std::string("--blacklist-cooldown-range=") + range, "x"})
              .message()
              .starts_with("--blacklist-cooldown-range must be two times"));
  }
}

}  // namespace hvd
