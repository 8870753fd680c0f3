#include "rendezvous/worker_env.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/hex.h"

namespace hvd {
namespace {

constexpr std::string_view kJobKey = "HVD_JOB_KEY";
// Names that hvdrun set because the user had not: an inner hvdrun must not
// take them for the user's.
constexpr std::string_view kDefaulted = "HVD_DEFAULTED";

// Names and families of names by which launchers tell a process who it is.
constexpr std::array kSlotNames = {
    // Horovod
    std::string_view("HOROVOD_RANK"), std::string_view("HOROVOD_SIZE"),
    std::string_view("HOROVOD_LOCAL_RANK"),
    std::string_view("HOROVOD_LOCAL_SIZE"),
    std::string_view("HOROVOD_CROSS_RANK"),
    std::string_view("HOROVOD_CROSS_SIZE"),
    std::string_view("HOROVOD_HOSTNAME"),
    std::string_view("HOROVOD_GLOO_RENDEZVOUS_ADDR"),
    std::string_view("HOROVOD_GLOO_RENDEZVOUS_PORT"),
    std::string_view("HOROVOD_ELASTIC"),
    // PyTorch
    std::string_view("RANK"), std::string_view("WORLD_SIZE"),
    std::string_view("LOCAL_RANK"), std::string_view("LOCAL_WORLD_SIZE"),
    std::string_view("GROUP_RANK"), std::string_view("GROUP_WORLD_SIZE"),
    std::string_view("ROLE_RANK"), std::string_view("ROLE_WORLD_SIZE"),
    std::string_view("ROLE_NAME"), std::string_view("MASTER_ADDR"),
    std::string_view("MASTER_PORT"),
    // MPICH's and Intel's Hydra
    std::string_view("MPI_LOCALRANKID"), std::string_view("MPI_LOCALNRANKS"),
    // Slurm; frameworks look at these before all others
    std::string_view("SLURM_PROCID"), std::string_view("SLURM_LOCALID"),
    std::string_view("SLURM_NODEID")};
constexpr std::array kSlotFamilies = {
    std::string_view("HVD_"),           std::string_view("HVDRUN_"),
    std::string_view("TORCHELASTIC_"),  std::string_view("OMPI_COMM_WORLD_"),
    std::string_view("PMI_"),           std::string_view("PMIX_"),
    std::string_view("MV2_COMM_WORLD_")};
// What a user may set for all workers alike, although it shares a prefix with
// slot variables: Open MPI's settings, and libhvd's thresholds.
constexpr std::string_view kPmixSettings = "PMIX_MCA_";
constexpr std::string_view kThresholds = "HVD_SELECT";

bool IsSlotVariable(std::string_view name) {
  if (name.starts_with(kPmixSettings) || name == kThresholds) return false;
  return std::find(kSlotNames.begin(), kSlotNames.end(), name) !=
             kSlotNames.end() ||
         std::any_of(
             kSlotFamilies.begin(), kSlotFamilies.end(),
             [&](std::string_view family) { return name.starts_with(family); });
}

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    words.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return words;
}

// One worker's variables, in the order in which --dry-run shows them.
class EnvWriter {
 public:
  explicit EnvWriter(const EnvList& user) : user_(user) {}

  void Set(std::string_view name, std::string value) {
    env_.emplace_back(name, std::move(value));
  }
  void Set(std::string_view name, long long value) {
    Set(name, std::to_string(value));
  }
  // The user's own value stays.
  void Default(std::string_view name, std::string value) {
    if (EnvFind(user_, name)) return;
    if (!defaulted_.empty()) defaulted_ += ',';
    defaulted_ += name;
    Set(name, std::move(value));
  }
  EnvList Finish() {
    if (!defaulted_.empty()) Set(kDefaulted, defaulted_);
    return std::move(env_);
  }

 private:
  const EnvList& user_;
  EnvList env_;
  std::string defaulted_;
};

// With nothing left empty.
HostNetwork NetworkOf(const JobEnv& job, const std::string& host) {
  const auto found = job.networks.find(host);
  HostNetwork network =
      found != job.networks.end() ? found->second : HostNetwork{};
  if (network.rendezvous_address.empty()) {
    network.rendezvous_address = job.rendezvous_address;
    network.rendezvous_port = job.rendezvous_port;
  }
  if (network.master_port == 0) network.master_port = job.master_port;
  if (network.store_address.empty()) {
    network.store_address = network.rendezvous_address;
    network.store_port = network.rendezvous_port;
  }
  return network;
}

void WriteOurs(const JobEnv& job, const HostNetwork& network,
               const World& world, const Placement& p, EnvWriter& env) {
  const WorkerId& worker = world.workers[static_cast<std::size_t>(p.rank)];
  env.Set("HVD_JOB_ID", job.job_id);
  env.Set(kJobKey, job.job_key_hex);
  env.Set("HVD_RENDEZVOUS_ADDR", network.rendezvous_address);
  env.Set("HVD_RENDEZVOUS_PORT", network.rendezvous_port);
  env.Set("HVD_HOST", worker.host);
  env.Set("HVD_SLOT", worker.slot);
  env.Set("HVD_RING_ADDRESS", network.ring_address);
  if (!job.port_range.any()) {
    env.Set("HVD_PORT_RANGE", ToString(job.port_range));
  }
  env.Set("HVD_EPOCH", static_cast<long long>(world.epoch));
  env.Set("HVD_RANK", p.rank);
  env.Set("HVD_SIZE", p.size);
  env.Set("HVD_LOCAL_RANK", p.local_rank);
  env.Set("HVD_LOCAL_SIZE", p.local_size);
  env.Set("HVD_CROSS_RANK", p.cross_rank);
  env.Set("HVD_CROSS_SIZE", p.cross_size);
  env.Set("HVD_HOST_INDEX", p.host_index);
  env.Set("HVD_COLLECTIVE_TIMEOUT_MS", job.collective_timeout.count());
  env.Set("HVD_START_TIMEOUT_MS", job.start_timeout.count());
  if (job.log_level) env.Set("HVD_LOG_LEVEL", *job.log_level);
}

void WriteHorovod(const JobEnv& job, const HostNetwork& network,
                  const std::string& host, const Placement& p, EnvWriter& env) {
  env.Set("HOROVOD_HOSTNAME", host);
  env.Set("HOROVOD_RANK", p.rank);
  env.Set("HOROVOD_SIZE", p.size);
  env.Set("HOROVOD_LOCAL_RANK", p.local_rank);
  env.Set("HOROVOD_LOCAL_SIZE", p.local_size);
  env.Set("HOROVOD_CROSS_RANK", p.cross_rank);
  env.Set("HOROVOD_CROSS_SIZE", p.cross_size);
  env.Set("HOROVOD_GLOO_RENDEZVOUS_ADDR", network.store_address);
  env.Set("HOROVOD_GLOO_RENDEZVOUS_PORT", network.store_port);
  env.Default("HOROVOD_CONTROLLER", "gloo");
  env.Default("HOROVOD_CPU_OPERATIONS", "gloo");
  env.Default("HOROVOD_GLOO_IFACE", network.interface_name);
  env.Default("NCCL_SOCKET_IFNAME", network.interface_name);
  env.Default("PYTHONUNBUFFERED", "1");
  if (job.elastic) {
    env.Set("HOROVOD_ELASTIC", "1");
    // Horovod's 30 s allow for imports, which hvdrun has waited out before:
    // what is left of them is how long a survivor may sit in a broken ring.
    env.Default("HOROVOD_GLOO_TIMEOUT_SECONDS", "10");
  }
  if (job.log_level) env.Default("HOROVOD_LOG_LEVEL", *job.log_level);
}

int HostCount(const std::vector<Placement>& placements) {
  int count = 0;
  for (const Placement& p : placements) {
    count = std::max(count, p.host_index + 1);
  }
  return count;
}

void WriteTorch(const JobEnv& job, const World& world, int hosts,
                const Placement& p, EnvWriter& env) {
  env.Set("RANK", p.rank);
  env.Set("WORLD_SIZE", p.size);
  env.Set("LOCAL_RANK", p.local_rank);
  env.Set("LOCAL_WORLD_SIZE", p.local_size);
  env.Set("GROUP_RANK", p.host_index);
  env.Set("GROUP_WORLD_SIZE", hosts);
  env.Set("ROLE_NAME", "default");  // torchrun's
  env.Set("ROLE_RANK", p.rank);
  env.Set("ROLE_WORLD_SIZE", p.size);
  const HostNetwork first = NetworkOf(job, world.workers.front().host);
  env.Set("MASTER_ADDR", job.master_address.value_or(first.ring_address));
  env.Set("MASTER_PORT", first.master_port);
  env.Set("TORCHELASTIC_RUN_ID", job.job_id);
  env.Set(kRestartsVariable, 0);
  env.Set("TORCHELASTIC_MAX_RESTARTS", job.max_restarts);
  // As torchrun: else each worker starts a thread a core.
  if (p.local_size > 1) env.Default("OMP_NUM_THREADS", "1");
  // "True" would make every rank a client of a store that nobody serves.
  env.Set("TORCHELASTIC_USE_AGENT_STORE", "False");
}

// What scripts read, not what an MPI library needs to start: PMIX_RANK or
// PMI_FD would make one look for a server.
void WriteMpi(const Placement& p, EnvWriter& env) {
  env.Set("OMPI_COMM_WORLD_RANK", p.rank);
  env.Set("OMPI_COMM_WORLD_SIZE", p.size);
  env.Set("OMPI_COMM_WORLD_LOCAL_RANK", p.local_rank);
  env.Set("OMPI_COMM_WORLD_LOCAL_SIZE", p.local_size);
  env.Set("OMPI_COMM_WORLD_NODE_RANK", p.local_rank);  // Open MPI's meaning
  env.Set("PMI_RANK", p.rank);
  env.Set("PMI_SIZE", p.size);
  env.Set("PMI_LOCAL_RANK", p.local_rank);
  env.Set("PMI_LOCAL_SIZE", p.local_size);
  env.Set("MPI_LOCALRANKID", p.local_rank);
  env.Set("MPI_LOCALNRANKS", p.local_size);
}

// Reads one variable after another; the first that fails is remembered.
class EnvReader {
 public:
  explicit EnvReader(const EnvList& env) : env_(env) {}

  std::string Text(std::string_view name) {
    const std::optional<std::string_view> value = EnvFind(env_, name);
    if (value && !value->empty()) return std::string(*value);
    Fail(name, value ? "is empty" : "is missing");
    return {};
  }

  template <class Number>
  Number Count(std::string_view name,
               Number max = std::numeric_limits<Number>::max()) {
    const std::string text = Text(name);
    Number number{};
    const char* end = text.data() + text.size();
    const auto [at, ec] = std::from_chars(text.data(), end, number);
    if (ec == std::errc{} && at == end && number >= 0 && number <= max) {
      return number;
    }
    Fail(name, "is not a number from 0 to " + std::to_string(max) + ": \"" +
                   text + "\"");
    return {};
  }

  void Fail(std::string_view name, const std::string& why) {
    if (!error_) {
      error_.emplace(ErrorCode::kInvalidArgument,
                     "environment variable " + std::string(name) + " " + why);
    }
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const EnvList& env_;
  std::optional<Error> error_;
};

// `own`: the user's environment without slot variables.
EnvList WorkerEnvAt(const JobEnv& job, const World& world,
                    const Placement& placement, int hosts, const EnvList& own) {
  EnvWriter env(own);
  const auto rank = static_cast<std::size_t>(placement.rank);
  const std::string& host = world.workers[rank].host;
  const HostNetwork network = NetworkOf(job, host);
  WriteOurs(job, network, world, placement, env);
  WriteHorovod(job, network, host, placement, env);
  WriteTorch(job, world, hosts, placement, env);
  if (job.rank_env == RankEnv::kMpi) WriteMpi(placement, env);
  return env.Finish();
}

Placement ReadPlacement(EnvReader& read) {
  Placement p;
  p.rank = read.Count<int>("HVD_RANK");
  p.size = read.Count<int>("HVD_SIZE");
  p.local_rank = read.Count<int>("HVD_LOCAL_RANK");
  p.local_size = read.Count<int>("HVD_LOCAL_SIZE");
  p.cross_rank = read.Count<int>("HVD_CROSS_RANK");
  p.cross_size = read.Count<int>("HVD_CROSS_SIZE");
  p.host_index = read.Count<int>("HVD_HOST_INDEX");
  if (p.rank >= p.size) read.Fail("HVD_RANK", "is not below HVD_SIZE");
  if (p.local_rank >= p.local_size) {
    read.Fail("HVD_LOCAL_RANK", "is not below HVD_LOCAL_SIZE");
  }
  if (p.cross_rank >= p.cross_size) {
    read.Fail("HVD_CROSS_RANK", "is not below HVD_CROSS_SIZE");
  }
  return p;
}

PortRange ReadPortRange(EnvReader& read, const EnvList& env) {
  const auto text = EnvFind(env, "HVD_PORT_RANGE");
  if (!text) return {};
  const Result<PortRange> range = ParsePortRange(*text);
  if (range.ok()) return range.value();
  read.Fail("HVD_PORT_RANGE", range.error().message());
  return {};
}

}  // namespace

EnvList MakeWorkerEnv(const JobEnv& job, const World& world, int rank,
                      const EnvList& user) {
  HVD_CHECK(rank >= 0 && static_cast<std::size_t>(rank) < world.workers.size());
  const std::vector<Placement> placements = Placements(world);
  return WorkerEnvAt(job, world, placements[static_cast<std::size_t>(rank)],
                     HostCount(placements), WithoutSlotVariables(user));
}

std::vector<EnvList> MakeWorkerEnvs(const JobEnv& job, const World& world,
                                    const EnvList& user) {
  const EnvList own = WithoutSlotVariables(user);
  const std::vector<Placement> placements = Placements(world);
  const int hosts = HostCount(placements);
  std::vector<EnvList> envs;
  envs.reserve(placements.size());
  for (const Placement& placement : placements) {
    envs.push_back(WorkerEnvAt(job, world, placement, hosts, own));
  }
  return envs;
}

EnvList WithoutSlotVariables(const EnvList& user) {
  const std::vector<std::string_view> defaulted =
      Split(EnvFind(user, kDefaulted).value_or(""));
  EnvList kept;
  kept.reserve(user.size());
  for (const auto& entry : user) {
    if (IsSlotVariable(entry.first)) continue;
    if (std::find(defaulted.begin(), defaulted.end(), entry.first) !=
        defaulted.end()) {
      continue;
    }
    kept.push_back(entry);
  }
  return kept;
}

bool IsSecretVariable(const std::string& name) { return name == kJobKey; }

Result<std::optional<WorkerEnv>> ReadWorkerEnv(const EnvList& env) {
  if (!EnvFind(env, "HVD_RENDEZVOUS_ADDR") && !EnvFind(env, "HVD_JOB_ID")) {
    return std::optional<WorkerEnv>();
  }
  EnvReader read(env);
  WorkerEnv worker;
  worker.job_id = read.Text("HVD_JOB_ID");
  const std::optional<std::string> key = FromHex(read.Text(kJobKey));
  // The value itself must not be shown.
  if (!key) read.Fail(kJobKey, "is not hexadecimal");
  worker.job_key = key.value_or("");
  worker.rendezvous_address = read.Text("HVD_RENDEZVOUS_ADDR");
  worker.rendezvous_port = read.Count<std::uint16_t>("HVD_RENDEZVOUS_PORT");
  worker.worker.host = read.Text("HVD_HOST");
  worker.worker.slot = read.Count<int>("HVD_SLOT");
  if (EnvFind(env, kLaunchVariable)) {
    worker.launch = static_cast<LaunchId>(read.Count<int>(kLaunchVariable));
  }
  worker.ring_address = read.Text("HVD_RING_ADDRESS");
  worker.port_range = ReadPortRange(read, env);
  worker.placement = ReadPlacement(read);
  // Far above any sensible wait, far below where adding it to now overflows.
  constexpr Duration::rep kLongest = 1'000'000'000'000;
  worker.collective_timeout = Duration(
      read.Count<Duration::rep>("HVD_COLLECTIVE_TIMEOUT_MS", kLongest));
  worker.start_timeout =
      Duration(read.Count<Duration::rep>("HVD_START_TIMEOUT_MS", kLongest));
  worker.elastic = EnvFind(env, "HOROVOD_ELASTIC") == "1";
  if (read.error()) return *read.error();
  return std::optional<WorkerEnv>(std::move(worker));
}

std::vector<std::string> SecretVariables() { return {std::string(kJobKey)}; }

}  // namespace hvd
