#include "cmd/job_plan.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace hvd {
namespace {

using namespace std::chrono_literals;

Settings TwoHosts() {
  Settings settings;
  settings.command = {"./train", "--epochs", "3"};
  settings.np = 3;
  settings.hosts = {{"localhost", 2}, {"other", 2}};
  return settings;
}

const std::vector<HostAddress> kAddresses = {{"localhost", "127.0.0.1", true},
                                             {"other", "127.0.0.2", true}};
const JobSecrets kSecrets = {"1d", "5ec7e7"};

struct Planned {
  JobPlan plan;
  std::vector<std::string> notes;
};

Planned Plan(const Settings& settings, const EnvList& own) {
  Planned planned;
  planned.plan = MakeJobPlan(settings, own, "/home/me", kAddresses, kSecrets,
                             planned.notes);
  return planned;
}

}  // namespace

TEST_CASE("a job plan carries the user's words, place and times", "[cmd]") {
  Settings settings = TwoHosts();
  settings.timeout = 90s;
  settings.stop_grace = 3s;
  const JobPlan plan = Plan(settings, {{"PATH", "/bin"}}).plan;
  CHECK(plan.command == settings.command);
  CHECK(plan.cwd == "/home/me");
  CHECK(plan.driver.workers == 3);
  CHECK(plan.driver.job_timeout == Duration(90s));
  CHECK(plan.driver.stop_grace == Duration(3s));
  CHECK(plan.leftover_grace == Duration(3s));
  CHECK(plan.user_env == EnvList{{"PATH", "/bin"}});
}

TEST_CASE("a job plan knows the address of each host's ring", "[cmd]") {
  const JobPlan plan = Plan(TwoHosts(), {}).plan;
  CHECK(plan.env.networks.at("other").ring_address == "127.0.0.2");
  CHECK(EnvFind(WorkerEnvironment(plan, FirstWorld(TwoHosts()), 2),
                "MASTER_ADDR") == "127.0.0.1");
}

TEST_CASE("slot variables of the user's shell are not in a job plan", "[cmd]") {
  const JobPlan plan =
      Plan(TwoHosts(), {{"HOROVOD_RANK", "99"}, {"HOME", "/home/me"}}).plan;
  CHECK(plan.user_env == EnvList{{"HOME", "/home/me"}});
}

TEST_CASE("hvdrun --env sets, passes on, and says what it does not have",
          "[cmd]") {
  Settings settings = TwoHosts();
  settings.env = {{"A", "b c"}, {"RANK", std::nullopt}, {"MISSING", {}}};
  const Planned planned = Plan(settings, {{"RANK", "7"}, {"A", "old"}});
  CHECK(planned.plan.user_env == EnvList{{"A", "b c"}, {"RANK", "7"}});
  CHECK(planned.notes ==
        std::vector<std::string>{"--env MISSING: not set here, so not passed "
                                 "on"});
}

TEST_CASE("what --env sets is shown as added, what it passes on is not",
          "[cmd]") {
  Settings settings = TwoHosts();
  settings.env = {{"A", "b c"}, {"SAME", "s"}, {"PASSED", std::nullopt}};
  const EnvList own = {{"A", "old"}, {"SAME", "s"}, {"PASSED", "secret"}};
  const Planned planned = Plan(settings, own);
  const auto added =
      AddedEnvironments(settings, own, planned.plan, FirstWorld(settings));
  REQUIRE(added.size() == 3);
  CHECK(EnvFind(added[2], "A") == "b c");
  CHECK(EnvFind(added[2], "HOROVOD_RANK") == "2");
  CHECK_FALSE(EnvFind(added[2], "SAME").has_value());
  CHECK_FALSE(EnvFind(added[2], "PASSED").has_value());
}

TEST_CASE("the world of a static job is known before it starts", "[cmd]") {
  const World world = FirstWorld(TwoHosts());
  CHECK(world.epoch == Epoch{1});
  CHECK(world.workers == std::vector<WorkerId>{
                             {"localhost", 0}, {"localhost", 1}, {"other", 0}});
}

TEST_CASE("what hvdrun adds wins over the user's own variables", "[cmd]") {
  Settings settings = TwoHosts();
  settings.env = {{"RANK", "99"}};
  const JobPlan plan = Plan(settings, {}).plan;
  CHECK(EnvFind(WorkerEnvironment(plan, FirstWorld(settings), 2), "RANK") ==
        "2");
}

TEST_CASE("a variable that the kernel would refuse is named at once", "[cmd]") {
  const std::string long_value(200'000, 'x');
  const JobPlan plan = Plan(TwoHosts(), {{"BIG", long_value}}).plan;
  const Status limits = CheckExecLimits(plan, FirstWorld(TwoHosts()));
  REQUIRE_FALSE(limits.ok());
  CHECK(limits.error().message().find("BIG") != std::string::npos);
}

}  // namespace hvd
