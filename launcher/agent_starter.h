// AgentStarter: an agent's part in starting others: hvdrun says whom and how,
// and hears what comes of it.
//
// It starts them as hvdrun does (remote_bootstrap.h), under a keeper of its
// own, which is there once the first is asked for. Loop thread only.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "launcher/agent_message.h"
#include "launcher/remote_bootstrap.h"

namespace hvd {

class AgentStarter {
 public:
  // `say`: what hvdrun is to hear. `program`: this agent's own bytes, for hosts
  // that have none. The options' shell and place come from hvdrun.
  AgentStarter(EventLoop& loop, RemoteBootstrap::Options options,
               std::function<Result<std::string>()> program,
               std::function<void(AgentEvent)> say);
  AgentStarter(const AgentStarter&) = delete;
  AgentStarter& operator=(const AgentStarter&) = delete;

  void On(const AgentStartOther& command);
  void On(const AgentEndOther& command);

  // Whether it is the keeper of what starts others.
  bool Runs(pid_t pid) const {
    return bootstrap_ && bootstrap_->keeper_pid() == pid;
  }

 private:
  Status Prepare(const AgentStartOther& command);

  EventLoop& loop_;
  RemoteBootstrap::Options options_;
  std::function<Result<std::string>()> program_;
  std::function<void(AgentEvent)> say_;
  std::unique_ptr<RemoteBootstrap> bootstrap_;
  struct Attempt {
    std::unique_ptr<BootstrapAttempt> attempt;
    int said = 0;  // lines
  };
  std::map<std::uint64_t, Attempt> attempts_;
};

}  // namespace hvd
