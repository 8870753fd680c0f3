#include "launcher/local_launcher.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/launcher/worker_host.h"
#include "tests/support/processes.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd {

using testing::TemporaryDirectory;
using testing::WorkerHost;

namespace {

// Workers that exit with 3 when they are let go, one after the other, while
// the keeper looks away: waitpid() would name them by the order of their birth.
class GatedWorkers {
 public:
  explicit GatedWorkers(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(::mkfifo(Gate(i).c_str(), 0600) == 0);
      ids_.push_back(host_.Shell("read x <" + Gate(i) + "; exit 3"));
      pids_.push_back(host_.WaitForStart(ids_[i]));
    }
  }

  // The last of them by SIGKILL, if given.
  void End(const std::vector<std::size_t>& order,
           std::optional<std::size_t> killed = {}) {
    const pid_t keeper = host_.launcher().keeper_pid();
    REQUIRE(::kill(keeper, SIGSTOP) == 0);
    for (const std::size_t i : order) {
      std::ofstream(Gate(i)) << "go\n";
      AwaitZombie(pids_[i]);
    }
    if (killed) {
      REQUIRE(::kill(pids_[*killed], SIGKILL) == 0);
      AwaitZombie(pids_[*killed]);
    }
    REQUIRE(::kill(keeper, SIGCONT) == 0);
    for (const LaunchId id : ids_) host_.WaitForExit(id);
  }

  // The workers' numbers, as their exits were told.
  std::vector<std::size_t> told() const {
    std::vector<std::size_t> numbers;
    for (const LaunchId id : host_.exit_order()) {
      const auto at = std::find(ids_.begin(), ids_.end(), id);
      numbers.push_back(static_cast<std::size_t>(at - ids_.begin()));
    }
    return numbers;
  }

 private:
  std::string Gate(std::size_t i) const {
    return directory_ / std::to_string(i);
  }
  void AwaitZombie(pid_t pid) {
    REQUIRE(host_.WaitUntil([&] { return testing::ProcessState(pid) == 'Z'; }));
  }

  WorkerHost host_;
  TemporaryDirectory directory_;
  std::vector<LaunchId> ids_;
  std::vector<pid_t> pids_;
};

}  // namespace

TEST_CASE("LocalLauncher reports each exit code from 0 to 255", "[launcher]") {
  WorkerHost host;
  std::vector<LaunchId> ids;
  for (int code = 0; code < 256; ++code) {
    ids.push_back(host.Shell("exit " + std::to_string(code)));
  }
  for (int code = 0; code < 256; ++code) {
    CAPTURE(code);
    CHECK(host.WaitForExit(ids[static_cast<std::size_t>(code)]) ==
          ExitStatus{code, 0});
  }
}

TEST_CASE("LocalLauncher reports each signal that ends a worker",
          "[launcher]") {
  WorkerHost host;
  for (int signo = 1; signo <= SIGRTMAX; ++signo) {
    const bool harmless = signo == SIGCHLD || signo == SIGCONT ||
                          signo == SIGURG || signo == SIGWINCH;
    const bool stops = signo == SIGSTOP || signo == SIGTSTP ||
                       signo == SIGTTIN || signo == SIGTTOU;
    // 32 and 33 belong to the C library.
    if (harmless || stops || signo == 32 || signo == 33) continue;
    CAPTURE(signo);
    const LaunchId id = host.Shell("ulimit -c 0; kill -" +
                                   std::to_string(signo) + " $$; sleep 60");
    REQUIRE(host.WaitForExit(id) == ExitStatus{0, signo});
  }
}

TEST_CASE("LocalLauncher tells why a worker could not start", "[launcher]") {
  WorkerHost host;
  const TemporaryDirectory directory;
  const std::string plain = directory.Write("plain", "hello", 0644);
  const std::string broken =
      directory.Write("broken", "#!/no/such/interpreter\n", 0755);

  const Error missing = host.WaitForFailure(host.Launch({"no-such-program"}));
  CHECK(missing.code() == ErrorCode::kNotFound);
  CHECK(missing.message() == "no-such-program: command not found");
  CHECK(host.WaitForFailure(host.Launch({"/no/such"})).code() ==
        ErrorCode::kNotFound);
  CHECK(host.WaitForFailure(host.Launch({broken})).code() ==
        ErrorCode::kNotFound);
  CHECK(host.WaitForFailure(host.Launch({plain})).code() ==
        ErrorCode::kInvalidArgument);
  CHECK(host.WaitForFailure(host.Launch({"/tmp"})).code() ==
        ErrorCode::kInvalidArgument);
  const Error nowhere = host.WaitForFailure(
      host.Launch({"true"}, WorkerHost::DefaultEnv(), "/no/such/place"));
  CHECK(nowhere.code() == ErrorCode::kUnavailable);
  CHECK(nowhere.message() ==
        "working directory /no/such/place: No such file or directory");
  CHECK(host.exits().empty());
}

TEST_CASE("LocalLauncher finds the command as the worker's shell would",
          "[launcher]") {
  WorkerHost host;
  const TemporaryDirectory directory;
  directory.Write("no-shebang", "echo ran $0; exit 3", 0755);

  const LaunchId by_path =
      host.Launch({"no-shebang"}, {{"PATH", "/bin:" + directory.path()}});
  CHECK(host.WaitForExit(by_path) == ExitStatus{3, 0});
  CHECK(host.Output(by_path) == "ran " + directory.path() + "/no-shebang\n");
  const LaunchId relative =
      host.Launch({"./no-shebang"}, {{"PATH", "/bin"}}, directory.path());
  CHECK(host.WaitForExit(relative) == ExitStatus{3, 0});
  CHECK(host.Output(relative) == "ran ./no-shebang\n");
  // The test's own PATH does not count.
  CHECK(
      host.WaitForFailure(host.Launch({"sh"}, {{"PATH", "/nowhere"}})).code() ==
      ErrorCode::kNotFound);
}

TEST_CASE("LocalLauncher gives a worker its words, environment and directory",
          "[launcher]") {
  WorkerHost host;
  const LaunchId id =
      host.Launch({"sh", "-c", "printf '%s|' \"$@\"; pwd; printf %s \"$ODD\"",
                   "x", "a b", "", "*"},
                  {{"PATH", "/usr/bin:/bin"}, {"ODD", "a\nb='\""}}, "/usr");
  CHECK(host.WaitForExit(id).success());
  CHECK(host.Output(id) == "a b||*|/usr\na\nb='\"");
}

TEST_CASE("a worker has no descriptor but 0, 1 and 2", "[launcher]") {
  WorkerHost host;
  const LaunchId id = host.Launch({"sh", "-c", "ls -1 /proc/$$/fd"});
  CHECK(host.WaitForExit(id).success());
  CHECK(host.Output(id) == "0\n1\n2\n");
}

TEST_CASE("a worker starts with default signals in a session of its own",
          "[launcher]") {
  WorkerHost host;
  const LaunchId id =
      host.Shell("exec grep -E '^(Sig(Blk|Ign)|NS[ps]id)' /proc/self/status");
  const std::string pid = std::to_string(host.WaitForStart(id));
  CHECK(host.WaitForExit(id).success());
  // glibc's posix_spawn leaves its two signals, 32 and 33, ignored.
  CHECK(host.Output(id) ==
        "NSpid:\t" + pid + "\nNSsid:\t" + pid +
            "\nSigBlk:\t0000000000000000\nSigIgn:\t0000000180000000\n");
}

TEST_CASE("an environment of five megabytes reaches the worker", "[launcher]") {
  WorkerHost host;
  EnvList env = WorkerHost::DefaultEnv();
  for (int i = 0; i < 50; ++i) {
    env.emplace_back("BIG_" + std::to_string(i), std::string(100'000, 'x'));
  }
  rlimit own{};
  REQUIRE(::getrlimit(RLIMIT_STACK, &own) == 0);
  const std::string limit = own.rlim_cur == RLIM_INFINITY
                                ? "unlimited"
                                : std::to_string(own.rlim_cur);
  env.emplace_back("LIMIT", limit);
  // With the user's own limit back in place no child of this shell could be
  // started, so it reads for itself. The limit comes back just after the exec,
  // so it may have to look twice.
  const LaunchId id = host.Launch(
      {"/bin/sh", "-c",
       "until [ \"$d\" = \"$LIMIT\" ]; do "
       "while read -r a b c d e && [ \"$a $b $c\" != 'Max stack size' ]; do :; "
       "done </proc/$$/limits; done; echo ${#BIG_0} ${#BIG_49}"},
      env);
  CHECK(host.WaitForExit(id).success());
  CHECK(host.Output(id) == "100000 100000\n");
}

TEST_CASE("an environment that no kernel takes names its variable",
          "[launcher]") {
  WorkerHost host;
  EnvList env = WorkerHost::DefaultEnv();
  env.emplace_back("TOO_LONG", std::string(200'000, 'x'));
  const Error error = host.WaitForFailure(host.Launch({"true"}, env));
  CHECK(error.code() == ErrorCode::kUnavailable);
  CHECK(error.message().find("TOO_LONG") != std::string::npos);
}

TEST_CASE("a worker gets the user's descriptor limit, not hvdrun's",
          "[launcher]") {
  rlimit own{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &own) == 0);
  WorkerHost host({.worker_nofile = FdLimit{32, own.rlim_max}});
  const LaunchId id = host.Shell("ulimit -n; ulimit -Hn");
  CHECK(host.WaitForExit(id).success());
  CHECK(host.Output(id) == "32\n" + std::to_string(own.rlim_max) + '\n');
}

TEST_CASE(
    "a worker gets a descriptor limit that its keeper could not live with",
    "[launcher]") {
  rlimit own{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &own) == 0);
  WorkerHost host({.worker_nofile = FdLimit{5, own.rlim_max - 1}});
  // It arrives just after the exec, so the worker may have to look twice.
  const LaunchId id = host.Shell(
      "until [ \"$(ulimit -n; ulimit -Hn)\" = \"$LIMITS\" ]; do :; done",
      {{"PATH", "/usr/bin:/bin"},
       {"LIMITS", "5\n" + std::to_string(own.rlim_max - 1)}});
  CHECK(host.WaitForExit(id).success());
}

TEST_CASE("LocalLauncher calls no handler from inside a call", "[launcher]") {
  WorkerHost host;
  REQUIRE(::kill(host.launcher().keeper_pid(), SIGKILL) == 0);
  REQUIRE(host.WaitUntil([&] { return host.lost().has_value(); }));
  const LaunchId id = host.Shell("true");
  CHECK(host.failures().empty());
  CHECK(host.WaitForFailure(id).message() == "the keeper is gone");
}

TEST_CASE("LocalLauncher starts and reaps 64 workers at once", "[launcher]") {
  WorkerHost host;
  std::vector<LaunchId> ids;
  for (int i = 0; i < 64; ++i) ids.push_back(host.Shell("exit 7"));
  for (const LaunchId id : ids) CHECK(host.WaitForExit(id).code == 7);
  CHECK(host.StopLeftovers(10s) < 5s);
  CHECK(testing::ChildrenOf(host.launcher().keeper_pid()).empty());
}

TEST_CASE("workers that failed together are told in the order of their ends",
          "[launcher]") {
  GatedWorkers workers(4);
  workers.End({2, 0, 3, 1});
  CHECK(workers.told() == std::vector<std::size_t>{2, 0, 3, 1});
}

TEST_CASE("of workers that failed together a killed one is told first",
          "[launcher]") {
  GatedWorkers workers(3);
  workers.End({0, 2}, 1);
  CHECK(workers.told() == std::vector<std::size_t>{1, 0, 2});
}

TEST_CASE("a LocalLauncher with nothing left takes its keeper along",
          "[launcher]") {
  WorkerHost host;
  const pid_t keeper = host.launcher().keeper_pid();
  host.WaitForExit(host.Shell("true"));
  host.Destroy();
  CHECK(testing::ProcessState(keeper) == 0);
}

TEST_CASE("LocalLauncher says so when there is no keeper program",
          "[launcher]") {
  EventLoop loop;
  const auto launcher =
      LocalLauncher::Start(loop, {.keeper_path = "/no/such/keeper"}, {});
  REQUIRE_FALSE(launcher.ok());
  CHECK(launcher.error().code() == ErrorCode::kNotFound);
  CHECK(launcher.error().message() ==
        "keeper: /no/such/keeper: No such file or directory");
}

}  // namespace hvd
