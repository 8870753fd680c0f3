// Settings: everything the user asked for, checked.
//
// Pure: words, environment and a way to read a file in, settings or one error
// out. Nothing is printed, started or resolved here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/port_range.h"
#include "base/process.h"
#include "base/result.h"
#include "cmd/remote_settings.h"
#include "discovery/hosts.h"
#include "driver/driver_options.h"
#include "driver/slot_ledger.h"
#include "launcher/output_mode.h"
#include "rendezvous/worker_env.h"
#include "simulation/simulation_spec.h"

namespace hvd {

enum class RunMode {
  kRun,
  kDryRun,
  kCheckHosts,
  kSimulate,
  kCheckBuild,
  kVersion,
  kHelp
};
enum class DriverLog { kAll, kCallbackOnly };

// --env NAME=VALUE; for --env NAME, what hvdrun itself has under that name. For
// every worker, below what hvdrun exports itself.
struct EnvRequest {
  std::string name;
  std::optional<std::string> value;  // always set once ParseSettings is done
  bool operator==(const EnvRequest&) const = default;
};

// Of a job whose workers and hosts come and go.
struct ElasticSettings {
  std::optional<int> min_np;  // always set in an elastic job
  std::optional<int> max_np;
  std::string script;        // --host-discovery-script; empty: none
  std::string watched_file;  // --watch-hosts; empty: none
  std::string control_file;  // --control-file; empty: nobody can push hosts
  ElasticMode mode = ElasticMode::kByContact;
  int slots_per_host = 1;
  int min_hosts = 1;
  Duration discovery_interval{1'000};
  Duration discovery_timeout{30'000};
  Duration elastic_timeout{600'000};
  std::optional<Duration> worker_timeout = Duration{30'000};
  std::optional<int> reset_limit;
  std::optional<int> max_restarts;
  Duration restart_window{3'600'000};
  int slot_failures = 3;
  std::optional<Cooldown> cooldown;

  // Hosts are asked for again and again, instead of given once.
  bool discovers() const { return !script.empty() || !watched_file.empty(); }
  // There may be others later.
  bool hosts_may_change() const { return discovers() || !control_file.empty(); }
};

struct Settings {
  RunMode mode = RunMode::kRun;
  std::vector<std::string> command;  // the user's own words, untouched

  int np = 0;      // workers to start; never more than the hosts have slots
  HostList hosts;  // empty where they are discovered
  bool elastic = false;
  ElasticSettings elasticity;
  std::optional<SimulationSpec> simulation;  // of kSimulate
  RemoteSettings remote;

  std::vector<std::string> network_interfaces;  // empty: any
  PortRange port_range;                         // of all that listens

  Duration start_timeout{30'000};        // Horovod: 30 s
  std::optional<Duration> timeout;       // of the whole job
  Duration collective_timeout{300'000};  // reaches libhvd by the environment
  Duration host_timeout{15'000};         // of other hosts' silence
  Duration stop_grace{10'000};

  RankEnv rank_env = RankEnv::kStandard;
  std::vector<EnvRequest> env;
  std::optional<int> stdin_rank = 0;  // nullopt: every worker reads end of file

  OutputMode output = OutputMode::kTag;
  bool output_timestamps = false;
  std::string output_dir;  // empty: no files
  OutputFilesMode output_files = OutputFilesMode::kTee;
  DriverLog driver_log = DriverLog::kAll;

  std::string report_file;  // empty: none
  std::string result_file;  // empty: none

  bool verbose = false;
  bool explain = false;
  std::optional<LogLevel> log_level;  // given: also HOROVOD_LOG_LEVEL

  std::vector<std::string> notes;  // lines for the user, e.g. hosts ignored
};

// The whole of a file, or why it can't be had.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

// `words`: argv without the program's name. kInvalidArgument, with a hint where
// one helps; hvdrun then exits with 125.
Result<Settings> ParseSettings(const std::vector<std::string>& words,
                               const EnvList& env, const ReadFile& read_file);

}  // namespace hvd
