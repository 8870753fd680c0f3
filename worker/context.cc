#include "worker/context.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "rendezvous/worker_env.h"
#include "worker/job_context.h"
#include "worker/solo_context.h"

namespace hvd {

Result<std::unique_ptr<Context>> Context::Join(const EnvList& env) {
  Result<std::optional<WorkerEnv>> worker = ReadWorkerEnv(env);
  if (!worker.ok()) {
    return std::move(worker).error().Wrap("environment of this worker");
  }
  if (!worker.value()) return MakeSoloContext();
  // The key is no business of the children this program may start. Before any
  // thread of ours exists; the user's are his to mind.
  for (const std::string& name : SecretVariables()) {
    ::unsetenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  }
  return JoinJob(*worker.value());
}

}  // namespace hvd
