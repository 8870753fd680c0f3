#include "cmd/job_plan.h"

#include <utility>

#include "driver/slot_assignment.h"
#include "launcher/exec_limits.h"

namespace hvd {
namespace {

// As workers get it: nobody else's slot variables, and what --env asked for.
EnvList UserEnvironment(const Settings& settings, const EnvList& own,
                        std::vector<std::string>& notes) {
  EnvList env = WithoutSlotVariables(own);
  for (const EnvRequest& request : settings.env) {
    const auto inherited = EnvFind(own, request.name);
    if (!request.value && !inherited) {
      notes.push_back("--env " + request.name +
                      ": not set here, so not passed on");
      continue;
    }
    const std::string value(request.value ? *request.value : *inherited);
    env = EnvMerge(std::move(env), {{request.name, value}});
  }
  return env;
}

JobEnv MakeJobEnv(const Settings& settings,
                  const std::vector<HostAddress>& hosts,
                  const JobSecrets& secrets) {
  JobEnv env;
  env.job_id = secrets.id;
  env.job_key_hex = secrets.key_hex;
  env.rendezvous_address = "127.0.0.1";  // all hosts are this machine
  for (const HostAddress& host : hosts) {
    env.networks[host.host].ring_address = host.address;
  }
  env.port_range = settings.port_range;
  env.collective_timeout = settings.collective_timeout;
  env.start_timeout = settings.start_timeout;
  env.rank_env = settings.rank_env;
  env.elastic = settings.elastic;
  if (settings.log_level) env.log_level = LogLevelName(*settings.log_level);
  return env;
}

}  // namespace

DriverOptions MakeDriverOptions(const Settings& settings) {
  DriverOptions options;
  options.workers = settings.np;
  options.start_timeout = settings.start_timeout;
  options.job_timeout = settings.timeout;
  options.stop_grace = settings.stop_grace;
  if (!settings.elastic) return options;
  const ElasticSettings& elastic = settings.elasticity;
  options.elastic = true;
  options.mode = elastic.mode;
  options.min_workers = *elastic.min_np;
  options.max_workers = elastic.max_np;
  options.min_hosts = elastic.min_hosts;
  options.hosts_may_change =
      elastic.hosts_may_change() || settings.mode == RunMode::kSimulate;
  options.elastic_timeout = elastic.elastic_timeout;
  options.worker_timeout = elastic.worker_timeout;
  options.reset_limit = elastic.reset_limit;
  options.max_restarts = elastic.max_restarts;
  options.ledger = {.slot_failures = elastic.slot_failures,
                    .cooldown = elastic.cooldown,
                    .window = elastic.restart_window};
  return options;
}

JobPlan MakeJobPlan(const Settings& settings, const EnvList& own_env,
                    const std::string& cwd,
                    const std::vector<HostAddress>& hosts,
                    const JobSecrets& secrets,
                    std::vector<std::string>& notes) {
  return {.driver = MakeDriverOptions(settings),
          .command = settings.command,
          .user_env = UserEnvironment(settings, own_env, notes),
          .cwd = cwd,
          .env = MakeJobEnv(settings, hosts, secrets),
          .stdin_rank = settings.stdin_rank,
          .leftover_grace = settings.stop_grace,
          .explain = settings.explain};
}

World FirstWorld(const Settings& settings) {
  auto workers = AssignSlots(settings.hosts, settings.np,
                             [](const WorkerId&) { return true; });
  return {Epoch{1}, std::move(workers)};
}

EnvList WorkerEnvironment(const JobPlan& plan, const World& world, int rank) {
  return EnvMerge(plan.user_env,
                  MakeWorkerEnv(plan.env, world, rank, plan.user_env));
}

std::vector<EnvList> AddedEnvironments(const Settings& settings,
                                       const EnvList& own_env,
                                       const JobPlan& plan,
                                       const World& world) {
  EnvList set;
  for (const EnvRequest& request : settings.env) {
    const auto value = EnvFind(plan.user_env, request.name);
    if (value && value != EnvFind(own_env, request.name)) {
      set = EnvMerge(std::move(set), {{request.name, std::string(*value)}});
    }
  }
  std::vector<EnvList> added = MakeWorkerEnvs(plan.env, world, plan.user_env);
  for (EnvList& env : added) env = EnvMerge(set, env);
  return added;
}

Status CheckExecLimits(const JobPlan& plan, const World& world) {
  if (world.workers.empty()) return Done{};
  Result<std::size_t> stack = StackLimitFor(plan.command.front(), plan.command,
                                            WorkerEnvironment(plan, world, 0));
  if (!stack.ok()) return std::move(stack).error();
  return Done{};
}

OutputOptions MakeOutputOptions(const Settings& settings) {
  return {.mode = settings.output,
          .timestamps = settings.output_timestamps,
          .files_directory = settings.output_dir,
          .files_mode = settings.output_files,
          .expected_workers = settings.np};
}

}  // namespace hvd
