// RemoteBootstrap: agents on other hosts through ssh, or through the command
// that the user gives in its place.
//
// The commands run under a keeper of their own, as workers do: whatever kills
// hvdrun, none of them is left, nor what it has started (ProxyCommand,
// kubectl). They have no terminal to ask anything on.
//
// Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/event_loop.h"
#include "base/process.h"
#include "launcher/bootstrap.h"
#include "launcher/local_launcher.h"
#include "launcher/remote_attempt.h"
#include "launcher/remote_command.h"

namespace hvd {

class RemoteBootstrap : public Bootstrap {
 public:
  struct Options {
    std::string keeper_path = {};
    RemoteShell shell = {};
    AgentPlace place = {};
    // The agent's bytes, of AgentPlace::kInstall; place.bytes is set from it.
    std::shared_ptr<const std::string> program = nullptr;
    std::string program_version = {};  // of this hvdrun
    // The commands': hvdrun's own; what asks for a password is taken out.
    EnvList env = {};
    std::string cwd = {};
    // As of LocalLauncher.
    std::optional<FdLimit> command_nofile = {};
    std::function<bool(pid_t)> spare = {};
  };

  // Errors as LocalLauncher::Start.
  static Result<std::unique_ptr<RemoteBootstrap>> Make(EventLoop& loop,
                                                       Options options);

  // It outlives its attempts.
  std::unique_ptr<BootstrapAttempt> Start(const RemoteHost& host,
                                          MakePayload make_payload,
                                          BootstrapHandlers handlers) override;

  // To be spared when another keeper of this process is gone.
  pid_t keeper_pid() const { return keeper_->keeper_pid(); }

 private:
  RemoteBootstrap(EventLoop& loop, Options options);

  std::unique_ptr<BootstrapAttempt> Refuse(const RemoteHost& host, Error why,
                                           BootstrapHandlers handlers);
  RemoteAttempt* Take(LaunchId id);
  void OnLost(const Error& why);

  EventLoop& loop_;
  Options options_;
  std::unique_ptr<LocalLauncher> keeper_;
  int next_id_ = 0;
  std::map<LaunchId, RemoteAttempt*> running_;
};

}  // namespace hvd
