// WorkerHost: a LocalLauncher with a real keeper, and a log of what it told.
#pragma once

#include <signal.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/process.h"
#include "base/unique_fd.h"
#include "launcher/local_launcher.h"
#include "launcher/output_pipe.h"
#include "launcher/stdin_relay.h"

namespace hvd::testing {

inline constexpr std::chrono::seconds kLimit{30};

class WorkerHost {
 public:
  explicit WorkerHost(LocalLauncher::Options options = {}) {
    options.keeper_path = HVD_TEST_KEEPER;
    auto launcher = LocalLauncher::Start(loop_, std::move(options), Handlers());
    REQUIRE(launcher.ok());
    launcher_ = std::move(launcher).value();
  }

  EventLoop& loop() { return loop_; }
  LocalLauncher& launcher() { return *launcher_; }
  void Destroy() { launcher_.reset(); }

  // A worker with this environment and its stdout in a pipe of ours.
  LaunchId Launch(std::vector<std::string> argv, EnvList env = DefaultEnv(),
                  std::string cwd = "/") {
    const LaunchId id{next_++};
    Result<OutputPipe> pipe = MakeOutputPipe();
    REQUIRE(pipe.ok());
    WorkerCommand command{.argv = std::move(argv),
                          .env = std::move(env),
                          .cwd = std::move(cwd),
                          .stdin_fd = OpenDevNull().value(),
                          .stdout_fd = std::move(pipe.value().write_end),
                          .stderr_fd = UniqueFd(::dup(2))};
    outputs_[id].fd = std::move(pipe.value().read_end);
    launcher_->Launch(id, std::move(command));
    return id;
  }
  LaunchId Shell(const std::string& script, EnvList env = DefaultEnv()) {
    return Launch({"sh", "-c", script}, std::move(env));
  }
  static EnvList DefaultEnv() { return {{"PATH", "/usr/bin:/bin"}}; }

  bool WaitUntil(const std::function<bool()>& done,
                 std::chrono::milliseconds limit = kLimit) {
    // What a test waits for is not always an event of the loop.
    Tick();
    return loop_.RunUntil(done, std::chrono::duration_cast<Duration>(limit));
  }
  // The status of a worker that must have ended by then.
  ExitStatus WaitForExit(LaunchId id,
                         std::chrono::milliseconds limit = kLimit) {
    const bool ended = WaitUntil([&] { return exits_.contains(id); }, limit);
    INFO("output: " << Output(id));
    REQUIRE(ended);
    return exits_.at(id);
  }
  pid_t WaitForStart(LaunchId id) {
    REQUIRE(WaitUntil([&] { return pids_.contains(id); }));
    return pids_.at(id);
  }
  Error WaitForFailure(LaunchId id) {
    REQUIRE(WaitUntil([&] { return failures_.contains(id); }));
    return failures_.at(id);
  }
  // Pumps the loop until the worker has printed `text`.
  bool WaitForOutput(LaunchId id, const std::string& text) {
    return WaitUntil(
        [&] { return Output(id).find(text) != std::string::npos; });
  }
  // How long it took.
  std::chrono::milliseconds StopLeftovers(std::chrono::milliseconds grace) {
    const Instant begin = loop_.Now();
    bool done = false;
    launcher_->StopLeftovers(std::chrono::duration_cast<Duration>(grace),
                             [&] { done = true; });
    REQUIRE(WaitUntil([&] { return done; }));
    return std::chrono::duration_cast<std::chrono::milliseconds>(loop_.Now() -
                                                                 begin);
  }

  // All it has printed so far.
  const std::string& Output(LaunchId id) {
    Captured& captured = outputs_[id];
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t n = ::read(captured.fd.get(), buffer.data(), buffer.size());
      if (n <= 0) break;
      captured.text.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return captured.text;
  }

  const std::map<LaunchId, ExitStatus>& exits() const { return exits_; }
  const std::vector<LaunchId>& exit_order() const { return exit_order_; }
  const std::map<LaunchId, Error>& failures() const { return failures_; }
  const std::optional<Error>& lost() const { return lost_; }

 private:
  struct Captured {
    UniqueFd fd;
    std::string text;
  };

  void Tick() {
    tick_ = loop_.After(Duration(5), [this] { Tick(); });
  }

  LauncherHandlers Handlers() {
    return {.on_started = [this](LaunchId id, pid_t pid) { pids_[id] = pid; },
            .on_start_failed =
                [this](LaunchId id, Error error) {
                  failures_.emplace(id, std::move(error));
                },
            .on_exit =
                [this](LaunchId id, ExitStatus status) {
                  CHECK(exits_.emplace(id, status).second);
                  exit_order_.push_back(id);
                },
            .on_lost = [this](Error error) { lost_ = std::move(error); }};
  }

  EventLoop loop_;
  std::unique_ptr<Timer> tick_;
  int next_ = 0;
  std::map<LaunchId, Captured> outputs_;
  std::map<LaunchId, pid_t> pids_;
  std::map<LaunchId, ExitStatus> exits_;
  std::vector<LaunchId> exit_order_;
  std::map<LaunchId, Error> failures_;
  std::optional<Error> lost_;
  std::unique_ptr<LocalLauncher> launcher_;
};

}  // namespace hvd::testing
