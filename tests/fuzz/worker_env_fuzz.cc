// Reads the input as an environment, NAME=VALUE a line, through both ends of
// the worker environment.

#include <string_view>

#include "base/check.h"
#include "base/process.h"
#include "fuzz_target.h"
#include "rendezvous/worker_env.h"

namespace {

hvd::EnvList ParseLines(std::string_view text) {
  hvd::EnvList env;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1
                                                 : text.size());
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    env.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  return env;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hvd::EnvList env =
      ParseLines({reinterpret_cast<const char*>(data), size});
  const auto read = hvd::ReadWorkerEnv(env);
  if (read.ok() && read.value()) {
    const hvd::WorkerEnv& worker = *read.value();
    HVD_CHECK(worker.placement.rank >= 0);
    HVD_CHECK(worker.placement.rank < worker.placement.size);
    HVD_CHECK(!worker.ring_address.empty());
  }

  const hvd::EnvList kept = hvd::WithoutSlotVariables(env);
  HVD_CHECK(!hvd::EnvFind(kept, "HVD_RANK"));
  HVD_CHECK(hvd::WithoutSlotVariables(kept) == kept);

  // Whatever the user's shell holds, a worker can read what it is given.
  hvd::JobEnv job;
  job.job_id = "job";
  job.job_key_hex = "00ff";
  job.rendezvous_address = "127.0.0.1";
  const hvd::World world{hvd::Epoch{1}, {{"a", 0}, {"b", 0}, {"a", 1}}};
  const auto given = hvd::ReadWorkerEnv(
      hvd::EnvMerge(kept, hvd::MakeWorkerEnv(job, world, 2, env)));
  HVD_CHECK(given.ok() && given.value());
  HVD_CHECK(given.value()->worker == world.workers[2]);
  return 0;
}
