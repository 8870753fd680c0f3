// What is left when the keeper, or the process above it, is killed alone.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/launcher/worker_host.h"
#include "tests/support/processes.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd {

using testing::NoneLeft;
using testing::Program;
using testing::ScopedMark;
using testing::TemporaryDirectory;
using testing::WorkerHost;

namespace {

constexpr auto kGrace = 500ms;
// The promise: nothing is left within the grace time plus two seconds.
constexpr auto kPromise = kGrace + 2000ms;

// A worker with all kinds of offspring, most of them deaf to TERM.
constexpr const char* kFamily =
    "sleep 600 & "
    "sh -c 'trap \"\" TERM INT HUP; while :; do sleep 0.05; done' & "
    "setsid sleep 600 & "
    "setsid sh -c 'trap \"\" TERM; while :; do sleep 0.05; done' & "
    "(setsid sh -c 'trap \"\" TERM; (setsid sleep 600 &); "
    "while :; do sleep 0.05; done' &) ; "
    "sleep 0.2; echo ready; trap '' TERM; while :; do sleep 0.05; done";

constexpr uid_t kNobody = 65534;

// Root's tests run once more as nobody; anyone else's are ordinary already (0:
// the test's own user).
uid_t OrdinaryUser() { return ::getuid() == 0 ? kNobody : 0; }

// The build tree may be closed to other users.
class PublicPrograms {
 public:
  PublicPrograms() {
    REQUIRE(::chmod(directory_.path().c_str(), 0755) == 0);
    std::filesystem::copy(HVD_TEST_KEEPER, keeper());
    std::filesystem::copy(HVD_TEST_LAUNCHER_HOST, host());
  }
  std::string keeper() const { return directory_ / "keeper"; }
  std::string host() const { return directory_ / "launcher_host"; }

 private:
  TemporaryDirectory directory_;
};

std::vector<std::string> HostCommand(const std::string& host,
                                     const std::string& keeper) {
  return {host, keeper, std::to_string(kGrace.count()), "sh", "-c", kFamily};
}

}  // namespace

TEST_CASE("killing the keeper's parent alone leaves no process", "[launcher]") {
  const ScopedMark mark;
  Program host(HostCommand(HVD_TEST_LAUNCHER_HOST, HVD_TEST_KEEPER),
               {.env = {{"MARK", mark.text()}}});
  REQUIRE(host.WaitForOutput("ready"));
  REQUIRE(testing::ProcessesWith(mark.text()).size() > 6);
  host.Signal(SIGKILL);
  CHECK(host.Wait().status == ExitStatus{0, SIGKILL});
  // The keeper carries the mark too.
  CHECK(NoneLeft(mark.text(), kPromise));
}

TEST_CASE("killing an ordinary user's launcher alone leaves no process",
          "[launcher]") {
  const ScopedMark mark;
  const PublicPrograms programs;
  Program host(HostCommand(programs.host(), programs.keeper()),
               {.env = {{"MARK", mark.text()}}, .uid = OrdinaryUser()});
  REQUIRE(host.WaitForOutput("ready"));
  host.Signal(SIGKILL);
  CHECK(host.Wait().status == ExitStatus{0, SIGKILL});
  CHECK(NoneLeft(mark.text(), kPromise));
}

TEST_CASE("killing the keeper alone leaves no process", "[launcher]") {
  const ScopedMark mark;
  WorkerHost host({.lifeline_grace = kGrace});
  EnvList env = WorkerHost::DefaultEnv();
  env.emplace_back("MARK", mark.text());
  const LaunchId id = host.Shell(kFamily, env);
  REQUIRE(host.WaitForOutput(id, "ready"));
  const pid_t keeper = host.launcher().keeper_pid();
  REQUIRE(::kill(keeper, SIGKILL) == 0);
  REQUIRE(host.WaitUntil([&] { return host.lost().has_value(); }));
  CHECK(host.lost()->message() ==
        "keeper " + std::to_string(keeper) + ": the keeper was killed");
  const Instant begin = host.loop().Now();
  host.StopLeftovers(kGrace);
  CHECK(host.loop().Now() - begin < kPromise);
  CHECK(NoneLeft(mark.text(), 0ms));
  // Adopted and reaped, the keeper as well.
  CHECK(testing::ChildrenOf(::getpid()).empty());
  CHECK(host.exits().empty());
}

TEST_CASE("a killed keeper's workers end without being asked for",
          "[launcher]") {
  const ScopedMark mark;
  const PublicPrograms programs;
  Program host(HostCommand(programs.host(), programs.keeper()),
               {.env = {{"MARK", mark.text()}}, .uid = OrdinaryUser()});
  REQUIRE(host.WaitForOutput("ready"));
  const auto keeper = testing::ChildNamed(host.pid(), "keeper");
  REQUIRE(keeper.has_value());
  REQUIRE(::kill(*keeper, SIGKILL) == 0);
  const auto only_host_left = [&] {
    return testing::ProcessesWith(mark.text()) ==
           std::vector<pid_t>{host.pid()};
  };
  CHECK(host.WaitUntil(only_host_left, kPromise));
}

TEST_CASE("a keeper's spared sibling lives on when the keeper is killed",
          "[launcher]") {
  const ScopedMark mark;
  const Result<pid_t> sibling = Spawn({.program = "/bin/sleep",
                                       .argv = {"sleep", "600"},
                                       .env = {{"MARK", mark.text()}},
                                       .cwd = ""});
  REQUIRE(sibling.ok());
  const Result<UniqueFd> pidfd = OpenPidfd(sibling.value());
  REQUIRE(pidfd.ok());
  {
    WorkerHost host(
        {.spare = [&](pid_t pid) { return pid == sibling.value(); }});
    const LaunchId id = host.Shell("echo ready; exec sleep 600");
    REQUIRE(host.WaitForOutput(id, "ready"));
    REQUIRE(::kill(host.launcher().keeper_pid(), SIGKILL) == 0);
    REQUIRE(host.WaitUntil([&] { return host.lost().has_value(); }));
    host.StopLeftovers(1s);
    CHECK(testing::ChildrenOf(::getpid()) ==
          std::vector<pid_t>{sibling.value()});
    CHECK(testing::ProcessState(sibling.value()) == 'S');
  }
  REQUIRE(::kill(sibling.value(), SIGKILL) == 0);
  CHECK(ReapPidfd(pidfd.value().get()) == ExitStatus{0, SIGKILL});
}

TEST_CASE("the keeper minds no signal but its lifeline", "[launcher]") {
  WorkerHost host;
  host.WaitForExit(host.Shell("true"));  // it has begun
  for (const int signo : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGUSR1, SIGPIPE}) {
    REQUIRE(::kill(host.launcher().keeper_pid(), signo) == 0);
  }
  CHECK(host.WaitForExit(host.Shell("exit 9")).code == 9);
  CHECK_FALSE(host.lost().has_value());
}

TEST_CASE("destroying the launcher stops what still runs", "[launcher]") {
  const ScopedMark mark;
  WorkerHost host({.lifeline_grace = 100ms});
  EnvList env = WorkerHost::DefaultEnv();
  env.emplace_back("MARK", mark.text());
  const LaunchId id = host.Shell(kFamily, env);
  REQUIRE(host.WaitForOutput(id, "ready"));
  host.Destroy();
  CHECK(NoneLeft(mark.text(), 5s));
}

TEST_CASE("a hand-started keeper says what it is", "[launcher]") {
  const auto result = testing::RunProgram({HVD_TEST_KEEPER});
  CHECK(result.status == ExitStatus{125, 0});
  CHECK(result.err == "hvdrun-keeper: it is started by hvdrun, not by hand\n");
}

}  // namespace hvd
