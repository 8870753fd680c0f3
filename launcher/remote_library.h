// RemoteLibrary: loads libhvdrun_remote.so, which holds what a job on several
// hosts needs and a job on one should not have to load: gRPC.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "launcher/agent_server.h"

namespace hvd {

// Loads the library at `path`, once a process; it stays. kUnavailable says what
// the loader said.
Result<std::unique_ptr<AgentServer>> LoadAgentServer(
    const std::string& path, const AgentServer::Options& options,
    AgentServer::Handlers handlers, AgentServer::Post post);

// The same on a thread of its own: it takes as long as ssh needs to get half of
// its way.
class AgentServerLoad {
 public:
  // `on_done` is posted.
  AgentServerLoad(std::string path, AgentServer::Options options,
                  AgentServer::Handlers handlers, AgentServer::Post post,
                  std::function<void()> on_done);
  ~AgentServerLoad();
  AgentServerLoad(const AgentServerLoad&) = delete;
  AgentServerLoad& operator=(const AgentServerLoad&) = delete;

  // Waits for what is left of it.
  Result<std::unique_ptr<AgentServer>>& Get();

 private:
  Result<std::unique_ptr<AgentServer>> server_{nullptr};
  std::thread thread_;  // writes server_ until it is joined
};

}  // namespace hvd
