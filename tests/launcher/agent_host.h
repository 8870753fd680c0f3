// AgentHost: an AgentLauncher, the agent's side with a real keeper, and the
// connection between them in memory.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent_launcher.h"
#include "launcher/agent_workers.h"
#include "launcher/local_launcher.h"
#include "launcher/output_pipe.h"
#include "tests/launcher/agent_pair.h"

namespace hvd::testing {

class AgentHost {
 public:
  enum class Dials { kAtOnce, kLater };

  explicit AgentHost(Duration host_timeout = Duration{15'000},
                     Dials dials = Dials::kAtOnce)
      : pair_(loop_), cable_(pair_.cable), host_timeout_(host_timeout) {
    agent_ = std::make_unique<AgentWorkers>(
        loop_, ProbeDialer::Make(loop_, "key"), LinkMeter::Make(loop_, "key"),
        AgentWorkers::Options{.host_timeout = host_timeout,
                              .login_env = {{"HOME", "/there"}}},
        [this](std::optional<Error> why) {
          agent_end.emplace(std::move(why));
          local_.reset();  // as the agent's main does, by ending
        });
    auto local = LocalLauncher::Start(
        loop_,
        {.keeper_path = HVD_TEST_KEEPER, .lifeline_grace = Duration{500}},
        agent_->launcher_handlers());
    REQUIRE(local.ok());
    local_ = std::move(local).value();
    if (dials == Dials::kAtOnce) Dial();
  }

  void Dial() {
    launcher_ = std::make_unique<AgentLauncher>(
        loop_, std::move(pair_.link),
        AgentLauncher::Options{
            .host = "b", .host_timeout = host_timeout_, .kept = {"USER"}},
        Handlers(),
        AgentLauncher::HostHandlers{
            .on_message = [this](const AgentEvent& e) { events.push_back(e); },
            .on_lost = [this](Error why) { lost = std::move(why); }});
    agent_->Start(*local_, std::move(pair_.uplink),
                  AgentAbout{.version = "1.2"});
  }

  EventLoop& loop() { return loop_; }
  Cable& cable() { return *cable_; }
  AgentLauncher& launcher() { return *launcher_; }
  pid_t keeper_pid() const { return local_->keeper_pid(); }
  // What has started the agent is gone.
  void CutOff() { agent_->CutOff(); }
  void EndHvdrun() { launcher_.reset(); }
  void EndAgent() {
    agent_.reset();
    local_.reset();
  }

  LaunchId Launch(std::vector<std::string> argv, EnvList env = {},
                  UniqueFd stdin_fd = {}) {
    const LaunchId id{next_++};
    Result<OutputPipe> out = MakeOutputPipe();
    Result<OutputPipe> err = MakeOutputPipe();
    REQUIRE(out.ok());
    REQUIRE(err.ok());
    env.emplace_back("PATH", "/usr/bin:/bin");
    outputs_[id].fd = std::move(out.value().read_end);
    errors_[id].fd = std::move(err.value().read_end);
    launcher_->Launch(id, {.argv = std::move(argv),
                           .env = std::move(env),
                           .cwd = "/",
                           .stdin_fd = std::move(stdin_fd),
                           .stdout_fd = std::move(out.value().write_end),
                           .stderr_fd = std::move(err.value().write_end)});
    return id;
  }
  LaunchId Shell(const std::string& script, EnvList env = {}) {
    return Launch({"sh", "-c", script}, std::move(env));
  }

  bool WaitUntil(const std::function<bool()>& done,
                 Duration limit = Duration{30'000}) {
    Tick();
    return loop_.RunUntil(done, limit);
  }
  ExitStatus WaitForExit(LaunchId id) {
    const bool ended = WaitUntil([&] { return exits.contains(id); });
    INFO("output: " << Output(id));
    REQUIRE(ended);
    return exits.at(id);
  }
  bool WaitForOutput(LaunchId id, const std::string& text) {
    return WaitUntil(
        [&] { return Output(id).find(text) != std::string::npos; });
  }
  const std::string& Output(LaunchId id) { return Read(outputs_[id]); }
  const std::string& Errors(LaunchId id) { return Read(errors_[id]); }

  std::map<LaunchId, pid_t> pids;
  std::map<LaunchId, ExitStatus> exits;
  std::map<LaunchId, Error> failures;
  std::vector<AgentEvent> events;
  std::optional<Error> lost;
  std::optional<std::optional<Error>> agent_end;

 private:
  struct Captured {
    UniqueFd fd;
    std::string text;
  };

  static const std::string& Read(Captured& captured) {
    std::array<char, 65536> buffer;
    for (;;) {
      const ssize_t n = ::read(captured.fd.get(), buffer.data(), buffer.size());
      if (n <= 0) break;
      captured.text.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return captured.text;
  }

  void Tick() {
    tick_ = loop_.After(Duration(5), [this] { Tick(); });
  }

  LauncherHandlers Handlers() {
    return {.on_started = [this](LaunchId id, pid_t pid) { pids[id] = pid; },
            .on_start_failed =
                [this](LaunchId id, Error error) {
                  failures.emplace(id, std::move(error));
                },
            .on_exit =
                [this](LaunchId id, ExitStatus status) {
                  CHECK(exits.emplace(id, status).second);
                }};
  }

  EventLoop loop_;
  AgentPair pair_;
  std::shared_ptr<Cable> cable_;
  Duration host_timeout_;
  std::unique_ptr<Timer> tick_;
  int next_ = 0;
  std::map<LaunchId, Captured> outputs_;
  std::map<LaunchId, Captured> errors_;
  std::unique_ptr<AgentWorkers> agent_;
  std::unique_ptr<LocalLauncher> local_;
  std::unique_ptr<AgentLauncher> launcher_;
};

}  // namespace hvd::testing
