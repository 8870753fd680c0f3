// JobPlan: what a job will be, from what the user asked for.
//
// Pure: settings, the user's environment and the hosts' addresses in, plan out.
// Nothing here starts, opens or listens.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "cmd/settings.h"
#include "discovery/local_host.h"
#include "driver/elastic_driver.h"
#include "launcher/output_mux.h"
#include "rendezvous/worker_env.h"
#include "rendezvous/world.h"

namespace hvd {

struct JobPlan {
  DriverOptions driver;
  std::vector<std::string> command;
  EnvList user_env;  // what every worker gets besides its JobEnv
  std::string cwd;
  JobEnv env;  // without the ports, which exist once something listens
  std::optional<int> stdin_rank;
  Duration leftover_grace{10'000};  // for what ended workers left behind
  bool explain = false;
};

// Random, made anew for each job.
struct JobSecrets {
  std::string id;       // public all the same
  std::string key_hex;  // never to be shown
};

// The driver's part of it.
DriverOptions MakeDriverOptions(const Settings& settings);

// `notes` gets a line for each thing that the user should know.
JobPlan MakeJobPlan(const Settings& settings, const EnvList& own_env,
                    const std::string& cwd,
                    const std::vector<HostAddress>& hosts,
                    const JobSecrets& secrets, std::vector<std::string>& notes);

// The world that a static job will have, for what is checked or shown before.
World FirstWorld(const Settings& settings);

// Everything that rank `rank` will have in its environment.
EnvList WorkerEnvironment(const JobPlan& plan, const World& world, int rank);

// What each rank has that hvdrun's own environment has not: what --env sets,
// and what a job adds.
std::vector<EnvList> AddedEnvironments(const Settings& settings,
                                       const EnvList& own_env,
                                       const JobPlan& plan, const World& world);

// kInvalidArgument: the kernel would not start the command with this
// environment; names what is too long.
Status CheckExecLimits(const JobPlan& plan, const World& world);

OutputOptions MakeOutputOptions(const Settings& settings);

}  // namespace hvd
