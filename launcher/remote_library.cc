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
                     // NOLINTNEXTLINE(concurrency-mt-unsafe): one a thread
                     ::dlerror()};
  }
  const auto listen = reinterpret_cast<ListenForAgents>(symbol);
  Result<std::unique_ptr<AgentServer>> server{std::unique_ptr<AgentServer>()};
  listen(options, std::move(handlers), std::move(post), server);
  return server;
}

AgentServerLoad::AgentServerLoad(std::string path, AgentServer::Options options,
                                 AgentServer::Handlers handlers,
                                 AgentServer::Post post,
                                 std::function<void()> on_done)
    : thread_([this, path = std::move(path), options = std::move(options),
               handlers = std::move(handlers), post = std::move(post),
               on_done = std::move(on_done)]() mutable {
        server_ = LoadAgentServer(path, options, std::move(handlers), post);
        post(std::move(on_done));
      }) {}

AgentServerLoad::~AgentServerLoad() { (void)Get(); }

Result<std::unique_ptr<AgentServer>>& AgentServerLoad::Get() {
  if (thread_.joinable()) thread_.join();
  return server_;
}

}  // namespace hvd
