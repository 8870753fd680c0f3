#include "discovery/script_discovery.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "tests/discovery/heard.h"
#include "tests/discovery/pump.h"
#include "tests/support/processes.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd {

using testing::ChildrenOf;
using testing::Heard;
using testing::NoneLeft;
using testing::ProcessesWith;
using testing::PumpUntil;
using testing::ReadFile;
using testing::ScopedMark;
using testing::TemporaryDirectory;

namespace {

constexpr Duration kLimit = 20s;

// A discovery, with its loop and a directory ($DIR) for its script.
struct Fixture {
  ScriptDiscovery& Start(const std::string& command, Duration interval = 1h,
                         Duration timeout = 1h, int slots_per_host = 1) {
    discovery = std::make_unique<ScriptDiscovery>(
        loop, ScriptDiscovery::Options{.command = command,
                                       .env = {{"PATH", "/usr/bin:/bin"},
                                               {"DIR", directory.path()},
                                               {"MARK", mark.text()}},
                                       .slots_per_host = slots_per_host,
                                       .interval = interval,
                                       .timeout = timeout});
    discovery->Start(heard.Handlers());
    CHECK(heard.lists.empty());
    CHECK(heard.failures.empty());
    return *discovery;
  }

  // A script that runs what stands in $DIR/what and counts its runs.
  ScriptDiscovery& StartChanging(const std::string& what) {
    Change(what);
    return Start("echo >>$DIR/runs; . $DIR/what", 1ms);
  }

  // In one step, so that no run sees half of it.
  void Change(const std::string& what) {
    std::filesystem::rename(directory.Write("new", what), directory / "what");
  }

  std::size_t runs() const { return ReadFile(directory / "runs").size(); }

  // Pumped until `count` more runs have begun.
  void PumpRuns(std::size_t count) {
    const std::size_t enough = runs() + count;
    REQUIRE(PumpUntil(
        loop, [&] { return runs() >= enough; }, kLimit));
  }

  bool Hears(std::size_t lists, std::size_t warnings) {
    return loop.RunUntil(
        [&] {
          return heard.lists.size() >= lists &&
                 heard.warnings.size() >= warnings;
        },
        kLimit);
  }

  const HostList& FirstList() {
    REQUIRE(Hears(1, 0));
    return heard.lists[0];
  }

  const Error& Failure() {
    REQUIRE(loop.RunUntil([&] { return !heard.failures.empty(); }, kLimit));
    CHECK(heard.lists.empty());
    return heard.failures[0];
  }

  TemporaryDirectory directory;
  ScopedMark mark;
  EventLoop loop;
  Heard heard;
  std::unique_ptr<ScriptDiscovery> discovery;
};

}  // namespace

TEST_CASE("ScriptDiscovery tells the hosts that a script prints",
          "[discovery][process]") {
  Fixture fixture;
  fixture.Start(
      fixture.directory.Write("hosts.sh",
                              "#!/bin/sh\n"
                              "printf '# mine\\nb:2\\r\\na slots=3\\n'\n"
                              "printf '[fd77::1]:4\\nc'\n",
                              0755),
      1h, 1h, 5);
  CHECK(fixture.FirstList() ==
        HostList{{"b", 2}, {"a", 3}, {"fd77::1", 4}, {"c", 5}});
}

TEST_CASE("ScriptDiscovery takes a whole command line",
          "[discovery][process]") {
  Fixture fixture;
  fixture.Start(
      fixture.directory.Write("hosts.sh", "#!/bin/sh\necho $1:$2\n", 0755) +
      " 'a' 2 | sed s/a/b/");
  CHECK(fixture.FirstList() == HostList{{"b", 2}});
}

TEST_CASE("ScriptDiscovery tells an empty list when nothing is printed",
          "[discovery][process]") {
  Fixture fixture;
  fixture.StartChanging("echo a");
  fixture.FirstList();
  fixture.Change("");
  CHECK(fixture.Hears(2, 0));
  CHECK(fixture.heard.lists[1].empty());
  CHECK(fixture.heard.warnings.empty());
}

TEST_CASE("ScriptDiscovery tells a list again only when it differs",
          "[discovery][process]") {
  Fixture fixture;
  fixture.StartChanging("echo a");
  fixture.PumpRuns(5);
  CHECK(fixture.heard.lists.size() == 1);
  fixture.Change("echo b; echo a");
  REQUIRE(fixture.Hears(2, 0));
  fixture.PumpRuns(5);
  CHECK(fixture.heard.lists ==
        std::vector<HostList>{{{"a", 1}}, {{"b", 1}, {"a", 1}}});
}

TEST_CASE(
    "ScriptDiscovery begins a run when the interval has passed since the "
    "end of the last",
    "[discovery][process]") {
  Fixture fixture;
  // Nanoseconds at the begin and the end of each run.
  fixture.Start(
      "date +%s%N >>$DIR/times; sleep 0.06; "
      "date +%s%N >>$DIR/times",
      50ms);
  const auto times = [&] {
    std::istringstream words(ReadFile(fixture.directory / "times"));
    return std::vector<long long>{std::istream_iterator<long long>(words), {}};
  };
  REQUIRE(PumpUntil(
      fixture.loop, [&] { return times().size() >= 8; }, kLimit));
  const std::vector<long long> all = times();
  for (std::size_t begin = 2; begin < 8; begin += 2) {
    CHECK(all[begin] - all[begin - 1] >= 50'000'000);
  }
}

TEST_CASE("ScriptDiscovery never runs a script twice at once",
          "[discovery][process]") {
  Fixture fixture;
  const std::string gate = fixture.directory / "gate";
  REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
  // Ends when the test opens the gate, long after the interval.
  fixture.Start("echo >>$DIR/runs; read line <$DIR/gate; echo a", 1ms);
  fixture.PumpRuns(1);
  CHECK_FALSE(PumpUntil(
      fixture.loop, [&] { return fixture.runs() > 1; }, 50ms));
  const UniqueFd open_gate(::open(gate.c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::write(open_gate.get(), "\n", 1) == 1);
  CHECK(fixture.FirstList() == HostList{{"a", 1}});
  fixture.PumpRuns(1);
}

TEST_CASE("ScriptDiscovery asks no more before the interval has passed",
          "[discovery][process]") {
  Fixture fixture;
  fixture.Start("echo >>$DIR/runs; echo a", 1h);
  fixture.FirstList();
  CHECK_FALSE(PumpUntil(
      fixture.loop, [&] { return fixture.runs() > 1; }, 50ms));
}

TEST_CASE("ScriptDiscovery fails when the first run does, and asks no more",
          "[discovery][process]") {
  Fixture fixture;
  fixture.Start("echo >>$DIR/runs; echo a; echo no license >&2; exit 3", 1ms);
  CHECK(fixture.Failure().message().find(
            ": exit status 3 (last line: \"no license\")") !=
        std::string::npos);
  CHECK_FALSE(PumpUntil(
      fixture.loop, [&] { return fixture.runs() > 1; }, 50ms));
  CHECK(fixture.heard.failures.size() == 1);
}

TEST_CASE("ScriptDiscovery says how a first run failed",
          "[discovery][process]") {
  Fixture fixture;
  SECTION("not found") {
    fixture.Start("./no-such-script");
    const Error& error = fixture.Failure();
    CHECK(error.message().find(
              "host discovery script ./no-such-script: exit status 127 (last "
              "line: ") == 0);
    CHECK(error.hint().find("not found") != std::string::npos);
  }
  SECTION("not executable") {
    fixture.Start(fixture.directory.Write("hosts.sh", "echo a\n", 0644));
    const Error& error = fixture.Failure();
    CHECK(error.message().find("exit status 126") != std::string::npos);
    CHECK(error.hint().find("chmod +x") != std::string::npos);
  }
  SECTION("killed by a signal") {
    fixture.Start("kill -SEGV $$");
    CHECK(fixture.Failure().message() ==
          "host discovery script kill -SEGV $$: killed by SIGSEGV");
  }
  SECTION("too slow") {
    fixture.Start("exec sleep 1000", 1h, 50ms);
    CHECK(fixture.Failure().message() ==
          "host discovery script exec sleep 1000: killed, not done "
          "after 0.05 s");
    CHECK(NoneLeft(fixture.mark.text(), 5s));
  }
  SECTION("too much output") {
    fixture.Start("exec yes host");
    CHECK(fixture.Failure().message() ==
          "host discovery script exec yes host: killed, it printed more than 1 "
          "MiB");
    CHECK(NoneLeft(fixture.mark.text(), 5s));
  }
  SECTION("a bad line") {
    fixture.Start("echo a; echo b:x");
    CHECK(fixture.Failure().message() ==
          "host discovery script echo a; echo b:x:2: slots must be 1 or more, "
          "got \"x\": \"b:x\"");
  }
}

TEST_CASE("ScriptDiscovery fails when its script cannot be started",
          "[discovery][process]") {
  EventLoop loop;
  Heard heard;
  ScriptDiscovery discovery(
      loop, {.command = "true", .env = {{"BIG", std::string(200'000, 'x')}}});
  discovery.Start(heard.Handlers());
  REQUIRE(loop.RunUntil([&] { return !heard.failures.empty(); }, kLimit));
  CHECK(heard.failures[0].message() ==
        "host discovery script true: /bin/sh: Argument list too long");
}

TEST_CASE(
    "ScriptDiscovery keeps the last list when a later run fails, and "
    "warns once for each kind of failure",
    "[discovery][process]") {
  Fixture fixture;
  fixture.StartChanging("echo a");
  fixture.FirstList();
  fixture.Change("echo b; exit 3");
  REQUIRE(fixture.Hears(1, 1));
  fixture.PumpRuns(5);
  CHECK(fixture.heard.warnings.size() == 1);
  CHECK(fixture.heard.warnings[0].find("exit status 3") != std::string::npos);
  fixture.Change("echo a b");
  REQUIRE(fixture.Hears(1, 2));
  fixture.PumpRuns(5);
  CHECK(fixture.heard.warnings.size() == 2);
  CHECK(fixture.heard.warnings[1].find(":1: after the host come slots=N") !=
        std::string::npos);
  fixture.Change("echo a; echo b");
  REQUIRE(fixture.Hears(2, 3));
  fixture.PumpRuns(5);
  CHECK(fixture.heard.warnings.size() == 3);
  CHECK(fixture.heard.warnings[2].ends_with(" works again"));
  CHECK(fixture.heard.lists ==
        std::vector<HostList>{{{"a", 1}}, {{"a", 1}, {"b", 1}}});
  CHECK(fixture.heard.failures.empty());
}

TEST_CASE("ScriptDiscovery goes on after a later run had to be killed",
          "[discovery][process]") {
  Fixture fixture;
  fixture.Change("echo a");
  fixture.Start(". $DIR/what", 1ms, 100ms);
  fixture.FirstList();
  fixture.Change("exec sleep 1000");
  REQUIRE(fixture.Hears(1, 1));
  CHECK(fixture.heard.warnings[0].find("not done after") != std::string::npos);
  fixture.Change("echo b");
  CHECK(fixture.Hears(2, 2));
}

TEST_CASE("ScriptDiscovery goes on though children hold the script's stdout",
          "[discovery][process]") {
  Fixture fixture;
  fixture.StartChanging("sleep 1000 & echo a");
  CHECK(fixture.FirstList() == HostList{{"a", 1}});
  fixture.PumpRuns(3);
  fixture.discovery.reset();
  CHECK(NoneLeft(fixture.mark.text(), 5s));
}

TEST_CASE("destroying a ScriptDiscovery kills its script and reaps it",
          "[discovery][process]") {
  Fixture fixture;
  fixture.Start("sleep 1000 & sleep 1000");
  REQUIRE(PumpUntil(
      fixture.loop,
      [&] { return ProcessesWith(fixture.mark.text()).size() == 3; }, kLimit));
  fixture.discovery.reset();
  CHECK(ProcessesWith(fixture.mark.text()).empty());
  CHECK(ChildrenOf(::getpid()).empty());
  CHECK_FALSE(fixture.loop.RunUntil(
      [&] {
        return !fixture.heard.lists.empty() || !fixture.heard.failures.empty();
      },
      20ms));
}

TEST_CASE("ScriptDiscovery may be destroyed by its own handler",
          "[discovery][process]") {
  EventLoop loop;
  std::unique_ptr<ScriptDiscovery> discovery;
  bool called = false;
  const std::string command = GENERATE("echo a", "exit 1");
  discovery = std::make_unique<ScriptDiscovery>(
      loop, ScriptDiscovery::Options{.command = command,
                                     .env = {{"PATH", "/usr/bin:/bin"}},
                                     .interval = 1ms});
  const auto destroy = [&] {
    discovery.reset();
    called = true;
  };
  discovery->Start({.on_hosts = [=](const HostList&) { destroy(); },
                    .on_failed = [=](const Error&) { destroy(); }});
  CHECK(loop.RunUntil([&] { return called; }, kLimit));
  CHECK(ChildrenOf(::getpid()).empty());
}

TEST_CASE("ScriptDiscovery knows the processes of the script that runs",
          "[discovery][process]") {
  Fixture fixture;
  const ScriptDiscovery& discovery = fixture.Start("sleep 1000 & sleep 1000");
  REQUIRE(PumpUntil(
      fixture.loop,
      [&] { return ProcessesWith(fixture.mark.text()).size() == 3; }, kLimit));
  for (const pid_t pid : ProcessesWith(fixture.mark.text())) {
    CHECK(discovery.Runs(pid));
  }
  CHECK_FALSE(discovery.Runs(::getpid()));
}

}  // namespace hvd
