// RemoteLibrary: loads libhvdrun_remote.so, which holds what a job on several
// hosts needs and a job on one should not have to load: gRPC.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "launcher/agent_server.h"

namespace hvd {

// Loads the library at `path`, once a process; it stays. kUnavailable says what
// the loader said.
Result<std::unique_ptr<AgentServer>> LoadAgentServer(
    const std::string& path, const AgentServer::Options& options,
    AgentServer::Handlers handlers, AgentServer::Post post);

}  // namespace hvd
