#include "worker/context.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "collectives/selection.h"
#include "rendezvous/worker_env.h"
#include "worker/job_context.h"
#include "worker/solo_context.h"

namespace hvd {

namespace {

// What thresholds the user wants, in HVD_SELECT.
Result<Selection> ReadSelection(const EnvList& env) {
  constexpr const char* kName = "HVD_SELECT";
  const std::optional<std::string_view> text = EnvFind(env, kName);
  if (!text) return Selection();
  Result<Selection> table = ParseSelection(*text);
  if (!table.ok()) return std::move(table).error().Wrap(kName);
  return table;
}

}  // namespace

Result<std::unique_ptr<Context>> Context::Join(const EnvList& env,
                                               const SharedHeap* heap) {
  Result<Selection> table = ReadSelection(env);
  if (!table.ok()) {
    return std::move(table).error().Wrap("environment of this worker");
  }
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
  return JoinJob(*worker.value(), table.value(), heap);
}

}  // namespace hvd
