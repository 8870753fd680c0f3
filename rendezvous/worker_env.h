// Worker environment: how hvdrun tells a worker where and who it is, in the
// names that libhvd, Horovod, PyTorch and (on request) MPI programs read.
//
// Both ends of the contract stand here: MakeWorkerEnv writes, ReadWorkerEnv
// reads. Pure.
// Source of the foreign names: Horovod 0.28.1 (gloo_run.py, gloo_context.cc),
// PyTorch 2 (torch/distributed/elastic), Open MPI 4.1, MPICH 4.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/port_range.h"
#include "base/process.h"
#include "base/result.h"
#include "rendezvous/world.h"

namespace hvd {

enum class RankEnv { kStandard, kMpi };  // kMpi: OMPI_… and PMI_… besides

// The network as the workers of one host see it: each host has an interface and
// an address of its own, and may reach hvdrun at an address of its own.
struct HostNetwork {
  std::string interface_name = "lo";       // for Gloo and NCCL
  std::string ring_address = "127.0.0.1";  // what ring listeners bind to
  std::uint16_t master_port = 0;  // kept there for rank 0; 0: the job's own
  // Where these workers find hvdrun; empty: at the job's own address and port.
  std::string rendezvous_address = {};
  std::uint16_t rendezvous_port = 0;
  // Where Horovod's clients, which cannot sign, find their store; empty: where
  // they find hvdrun.
  std::string store_address = {};
  std::uint16_t store_port = 0;
  bool operator==(const HostNetwork&) const = default;
};

struct JobEnv {
  std::string job_id;       // public; names the job in logs and sockets
  std::string job_key_hex;  // secret
  // Where workers on this machine find hvdrun.
  std::string rendezvous_address;
  std::uint16_t rendezvous_port = 0;
  // By host. One that is not here is this machine, over loopback.
  std::map<std::string, HostNetwork> networks;
  // PyTorch's: the ring address of rank 0's host, unless this says otherwise.
  std::optional<std::string> master_address;
  std::uint16_t master_port = 0;
  PortRange port_range;  // for what workers listen on
  Duration collective_timeout{300'000};
  Duration start_timeout{30'000};
  RankEnv rank_env = RankEnv::kStandard;
  bool elastic = false;
  int max_restarts = 0;
  std::optional<std::string> log_level;  // --log-level, passed on
};

// Which launch of the job a worker is; set when it starts.
inline constexpr const char* kLaunchVariable = "HVD_LAUNCH";

// How often all workers were started again before; PyTorch's name. Likewise.
inline constexpr const char* kRestartsVariable = "TORCHELASTIC_RESTART_COUNT";

// What this worker gets besides WithoutSlotVariables(user). NCCL_SOCKET_IFNAME
// and the like are left out when `user` has them.
EnvList MakeWorkerEnv(const JobEnv& job, const World& world, int rank,
                      const EnvList& user);
// The same for all ranks, in rank order; linear in the size of the world.
std::vector<EnvList> MakeWorkerEnvs(const JobEnv& job, const World& world,
                                    const EnvList& user);

// `user` without every variable that says who a worker is (slot variables of an
// outer or foreign launcher, HVD_ and HVDRUN_ names), nor what an outer hvdrun
// set only because the user had not: none of them may leak in.
EnvList WithoutSlotVariables(const EnvList& user);

// True for variables whose value must never be shown.
bool IsSecretVariable(const std::string& name);

// What libhvd reads. nullopt: not started by hvdrun, a world of one.
struct WorkerEnv {
  WorkerId worker;
  LaunchId launch{};
  Placement placement;  // of the first world, before any rendezvous
  std::string job_id;
  std::string job_key;  // raw bytes
  std::string rendezvous_address;
  std::uint16_t rendezvous_port = 0;
  std::string ring_address;  // what this worker's ring listener binds to
  PortRange port_range;      // of that listener
  Duration collective_timeout{300'000};
  Duration start_timeout{30'000};
  bool elastic = false;  // the job may have a next world
};
// kInvalidArgument names the variable that cannot be read.
Result<std::optional<WorkerEnv>> ReadWorkerEnv(const EnvList& env);

// Names that libhvd removes from its process once read.
std::vector<std::string> SecretVariables();

}  // namespace hvd
