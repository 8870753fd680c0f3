// AgentServer: where agents come in.
//
// gRPC over TLS. The certificate is made for the job and pinned by the agents,
// which got it over ssh; an agent proves itself with a token of its own, good
// for one connection. A stranger learns nothing.
//
// It lives in libhvdrun_remote.so, so that a job on one machine loads no gRPC:
// see remote_library.h. Loop thread only; handlers run on the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/port_range.h"
#include "base/result.h"
#include "launcher/agent_connection.h"
#include "launcher/agent_endpoint.h"

namespace hvd {

class AgentServer {
 public:
  struct Options {
    // Literals to listen on, each with a port of its own.
    std::vector<std::string> addresses;
    // One that is free on all of them is taken.
    PortRange ports = {};
  };
  struct Handlers {
    // The agent that Expect() described is here.
    std::function<void(const std::string& host, std::unique_ptr<AgentLink>)>
        on_agent;
    // One line: who was not let in, and why.
    std::function<void(std::string line)> on_refused;
  };
  // Runs a function on the loop; any thread.
  using Post = std::function<void(std::function<void()>)>;

  virtual ~AgentServer() = default;

  // Where it listens, in the order of Options.
  virtual const std::vector<AgentEndpoint>& endpoints() const = 0;
  // PEM.
  virtual const std::string& certificate() const = 0;
  // One connection with this token is let in as the agent of `host`; a token
  // of the host's that was not used is no longer good.
  virtual void Expect(const std::string& host, const std::string& token) = 0;
  virtual void Forget(const std::string& host) = 0;
};

// The library's one entry, by the name in kListenForAgents. kUnavailable: no
// such port or address is free.
using ListenForAgents = void (*)(const AgentServer::Options& options,
                                 AgentServer::Handlers handlers,
                                 AgentServer::Post post,
                                 Result<std::unique_ptr<AgentServer>>& out);
inline constexpr const char* kListenForAgents = "HvdListenForAgents";

}  // namespace hvd
