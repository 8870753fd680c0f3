#include "launcher/remote_library.h"

#include <dlfcn.h>

#include <utility>

namespace hvd {

Result<std::unique_ptr<AgentServer>> LoadAgentServer(
    const std::string& path, const AgentServer::Options& options,
    AgentServer::Handlers handlers, AgentServer::Post post) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* symbol =
      library == nullptr ? nullptr : ::dlsym(library, kListenForAgents);
  if (symbol == nullptr) {
    // The message names the path.
    return Error{ErrorCode::kUnavailable,
                 std::string("workers on other hosts need a library that "
                             "cannot be loaded: ") +
                     ::dlerror()};
  }
  const auto listen = reinterpret_cast<ListenForAgents>(symbol);
  Result<std::unique_ptr<AgentServer>> server{std::unique_ptr<AgentServer>()};
  listen(options, std::move(handlers), std::move(post), server);
  return server;
}

}  // namespace hvd
