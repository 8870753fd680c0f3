#include "rendezvous/worker_env.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace std::string_literals;

namespace hvd {
namespace {

const World kWorld{Epoch{3}, {{"a", 0}, {"a", 1}, {"b", 0}}};

JobEnv Job() {
  JobEnv job;
  job.job_id = "job-7";
  job.job_key_hex = "00112233";
  job.rendezvous_address = "127.0.0.1";
  job.rendezvous_port = 4711;
  job.master_port = 4712;
  return job;
}

std::map<std::string, std::string> AsMap(const EnvList& env) {
  std::map<std::string, std::string> map;
  for (const auto& [name, value] : env) {
    INFO(name);
    CHECK(map.emplace(name, value).second);  // no name twice
  }
  return map;
}

// What rank 2 of kWorld, alone on host b, gets.
std::map<std::string, std::string> Rank2(const JobEnv& job,
                                         const EnvList& user = {}) {
  return AsMap(MakeWorkerEnv(job, kWorld, 2, user));
}

EnvList Complete() { return MakeWorkerEnv(Job(), kWorld, 1, {}); }

void Replace(EnvList& env, const std::string& name, const std::string& value) {
  for (auto& entry : env) {
    if (entry.first == name) entry.second = value;
  }
}

}  // namespace

TEST_CASE("a worker gets Horovod's names", "[rendezvous]") {
  auto env = Rank2(Job());
  CHECK(env["HOROVOD_HOSTNAME"] == "b");
  CHECK(env["HOROVOD_RANK"] == "2");
  CHECK(env["HOROVOD_SIZE"] == "3");
  CHECK(env["HOROVOD_LOCAL_RANK"] == "0");
  CHECK(env["HOROVOD_LOCAL_SIZE"] == "1");
  CHECK(env["HOROVOD_CROSS_RANK"] == "1");
  CHECK(env["HOROVOD_CROSS_SIZE"] == "2");
  CHECK(env["HOROVOD_GLOO_RENDEZVOUS_ADDR"] == "127.0.0.1");
  CHECK(env["HOROVOD_GLOO_RENDEZVOUS_PORT"] == "4711");
  CHECK(env["HOROVOD_GLOO_IFACE"] == "lo");
  CHECK(env["HOROVOD_CONTROLLER"] == "gloo");
  CHECK(env["HOROVOD_CPU_OPERATIONS"] == "gloo");
  CHECK(env["NCCL_SOCKET_IFNAME"] == "lo");
  CHECK(env["PYTHONUNBUFFERED"] == "1");
  CHECK_FALSE(env.contains("HOROVOD_ELASTIC"));
  CHECK_FALSE(env.contains("HOROVOD_LOG_LEVEL"));
}

TEST_CASE("HOROVOD_ELASTIC is set in elastic jobs only", "[rendezvous]") {
  JobEnv job = Job();
  job.elastic = true;
  CHECK(Rank2(job)["HOROVOD_ELASTIC"] == "1");
  CHECK(ReadWorkerEnv(MakeWorkerEnv(job, kWorld, 0, {})).value()->elastic);
  CHECK_FALSE(ReadWorkerEnv(Complete()).value()->elastic);
}

TEST_CASE("an elastic Horovod worker sits in a broken ring for 10 s at most",
          "[rendezvous]") {
  JobEnv job = Job();
  CHECK_FALSE(Rank2(job).contains("HOROVOD_GLOO_TIMEOUT_SECONDS"));
  job.elastic = true;
  CHECK(Rank2(job)["HOROVOD_GLOO_TIMEOUT_SECONDS"] == "10");
  const EnvList mine = {{"HOROVOD_GLOO_TIMEOUT_SECONDS", "300"}};
  const EnvList env = MakeWorkerEnv(job, kWorld, 0, mine);
  CHECK_FALSE(EnvFind(env, "HOROVOD_GLOO_TIMEOUT_SECONDS"));
}

TEST_CASE("workers that share a host start one thread each", "[rendezvous]") {
  const World alone{Epoch{1}, {{"a", 0}, {"b", 0}}};
  CHECK(EnvFind(MakeWorkerEnv(Job(), kWorld, 0, {}), "OMP_NUM_THREADS") == "1");
  CHECK_FALSE(EnvFind(MakeWorkerEnv(Job(), alone, 0, {}), "OMP_NUM_THREADS"));
  const EnvList mine = {{"OMP_NUM_THREADS", "7"}};
  CHECK_FALSE(
      EnvFind(MakeWorkerEnv(Job(), kWorld, 0, mine), "OMP_NUM_THREADS"));
}

TEST_CASE("a worker gets PyTorch's names", "[rendezvous]") {
  JobEnv job = Job();
  job.max_restarts = 16;
  auto env = Rank2(job);
  CHECK(env["RANK"] == "2");
  CHECK(env["WORLD_SIZE"] == "3");
  CHECK(env["LOCAL_RANK"] == "0");
  CHECK(env["LOCAL_WORLD_SIZE"] == "1");
  CHECK(env["GROUP_RANK"] == "1");
  CHECK(env["GROUP_WORLD_SIZE"] == "2");
  CHECK(env["ROLE_RANK"] == "2");
  CHECK(env["ROLE_WORLD_SIZE"] == "3");
  CHECK(env["ROLE_NAME"] == "default");
  CHECK(env["MASTER_ADDR"] == "127.0.0.1");
  CHECK(env["MASTER_PORT"] == "4712");
  CHECK(env["TORCHELASTIC_RESTART_COUNT"] == "0");
  CHECK(env["TORCHELASTIC_MAX_RESTARTS"] == "16");
  CHECK(env["TORCHELASTIC_RUN_ID"] == "job-7");
  CHECK(env["TORCHELASTIC_USE_AGENT_STORE"] == "False");
}

TEST_CASE("MPI names come on request only", "[rendezvous]") {
  const auto is_mpi = [](const auto& entry) {
    return entry.first.starts_with("OMPI_") || entry.first.starts_with("PMI") ||
           entry.first.starts_with("MPI_");
  };
  JobEnv job = Job();
  auto env = Rank2(job);
  CHECK(std::none_of(env.begin(), env.end(), is_mpi));
  job.rank_env = RankEnv::kMpi;
  env = Rank2(job);
  CHECK(env["OMPI_COMM_WORLD_RANK"] == "2");
  CHECK(env["OMPI_COMM_WORLD_SIZE"] == "3");
  CHECK(env["OMPI_COMM_WORLD_LOCAL_RANK"] == "0");
  CHECK(env["OMPI_COMM_WORLD_LOCAL_SIZE"] == "1");
  CHECK(env["OMPI_COMM_WORLD_NODE_RANK"] == "0");
  CHECK(env["PMI_RANK"] == "2");
  CHECK(env["PMI_SIZE"] == "3");
  CHECK(env["PMI_LOCAL_RANK"] == "0");
  CHECK(env["PMI_LOCAL_SIZE"] == "1");
  CHECK(env["MPI_LOCALRANKID"] == "0");
  CHECK(env["MPI_LOCALNRANKS"] == "1");
}

TEST_CASE("what the user exported wins over hvdrun's defaults",
          "[rendezvous]") {
  const EnvList user = {{"NCCL_SOCKET_IFNAME", "ib0"},
                        {"HOROVOD_GLOO_IFACE", "eth7"},
                        {"PYTHONUNBUFFERED", ""},
                        {"HOROVOD_LOG_LEVEL", "ERROR"}};
  JobEnv job = Job();
  job.log_level = "DEBUG";
  auto env = Rank2(job, user);
  for (const auto& [name, value] : user) {
    INFO(name);
    CHECK_FALSE(env.contains(name));
  }
  CHECK(env["HVD_LOG_LEVEL"] == "DEBUG");
  CHECK(Rank2(job)["HOROVOD_LOG_LEVEL"] == "DEBUG");
}

TEST_CASE("hvdrun sets no name of the user's but slot variables",
          "[rendezvous]") {
  EnvList user;
  for (const auto& [name, value] : MakeWorkerEnv(Job(), kWorld, 0, {})) {
    user.emplace_back(name, "theirs");
  }
  user.emplace_back("PYTHONPATH", "/a:/b");
  // What is left of the user's after slot variables went is never set again.
  const EnvList kept = WithoutSlotVariables(user);
  const auto set = AsMap(MakeWorkerEnv(Job(), kWorld, 0, user));
  for (const auto& [name, value] : kept) {
    INFO(name);
    CHECK_FALSE(set.contains(name));
  }
  CHECK(EnvFind(kept, "PYTHONPATH") == "/a:/b");
  CHECK(EnvFind(kept, "OMP_NUM_THREADS") == "theirs");
}

TEST_CASE("slot variables of any launcher do not leak into a worker",
          "[rendezvous]") {
  const std::vector<std::string> slots = {"HOROVOD_RANK",
                                          "HOROVOD_SIZE",
                                          "HOROVOD_LOCAL_RANK",
                                          "HOROVOD_CROSS_SIZE",
                                          "HOROVOD_HOSTNAME",
                                          "HOROVOD_GLOO_RENDEZVOUS_ADDR",
                                          "HOROVOD_ELASTIC",
                                          "RANK",
                                          "WORLD_SIZE",
                                          "LOCAL_RANK",
                                          "MASTER_ADDR",
                                          "MASTER_PORT",
                                          "GROUP_RANK",
                                          "ROLE_NAME",
                                          "TORCHELASTIC_RUN_ID",
                                          "OMPI_COMM_WORLD_RANK",
                                          "PMI_RANK",
                                          "PMI_FD",
                                          "PMIX_RANK",
                                          "MPI_LOCALRANKID",
                                          "MV2_COMM_WORLD_RANK",
                                          "SLURM_PROCID",
                                          "HVD_RANK",
                                          "HVD_JOB_KEY",
                                          "HVD_SOMETHING_NEW",
                                          "HVDRUN_NUM_PROC"};
  const EnvList others = {
      {"PATH", "/bin"},         {"HOROVOD_FUSION_THRESHOLD", "1"},
      {"OMPI_MCA_btl", "tcp"},  {"PMIX_MCA_gds", "hash"},
      {"SLURM_JOB_ID", "5"},    {"RANKS", "1"},
      {"HVD_SELECT", "slab=1M"}};
  EnvList user;
  for (const std::string& name : slots) user.emplace_back(name, "99");
  user.insert(user.end(), others.begin(), others.end());
  CHECK(WithoutSlotVariables(user) == others);
}

TEST_CASE(
    "a nested hvdrun does not take the outer one's defaults for the "
    "user's",
    "[rendezvous]") {
  const EnvList shell = {{"PATH", "/bin"}, {"HOROVOD_GLOO_IFACE", "eth7"}};
  const EnvList inside = EnvMerge(WithoutSlotVariables(shell),
                                  MakeWorkerEnv(Job(), kWorld, 1, shell));
  CHECK(EnvFind(inside, "NCCL_SOCKET_IFNAME") == "lo");
  CHECK(WithoutSlotVariables(inside) == shell);
  JobEnv inner = Job();
  inner.networks["a"].interface_name = "eth1";
  const auto env = MakeWorkerEnv(inner, kWorld, 0, inside);
  CHECK(EnvFind(env, "NCCL_SOCKET_IFNAME") == "eth1");
  CHECK_FALSE(EnvFind(env, "HOROVOD_GLOO_IFACE"));
}

TEST_CASE("the job key is the only secret", "[rendezvous]") {
  for (const auto& [name, value] : Complete()) {
    INFO(name);
    CHECK(IsSecretVariable(name) == (name == "HVD_JOB_KEY"));
    CHECK((value.find("00112233") != std::string::npos) ==
          (name == "HVD_JOB_KEY"));
  }
  CHECK(SecretVariables() == std::vector<std::string>{"HVD_JOB_KEY"});
}

TEST_CASE("libhvd reads back what hvdrun wrote", "[rendezvous]") {
  JobEnv job = Job();
  job.networks["b"].ring_address = "127.0.0.2";
  job.collective_timeout = Duration(1234);
  job.start_timeout = Duration(77);
  const std::vector<Placement> placements = Placements(kWorld);
  for (int rank = 0; rank < 3; ++rank) {
    const auto read = ReadWorkerEnv(MakeWorkerEnv(job, kWorld, rank, {}));
    REQUIRE(read.ok());
    REQUIRE(read.value());
    const WorkerEnv& env = *read.value();
    const auto index = static_cast<std::size_t>(rank);
    CHECK(env.worker == kWorld.workers[index]);
    CHECK(env.placement == placements[index]);
    CHECK(env.job_id == "job-7");
    CHECK(env.job_key == "\x00\x11\x22\x33"s);
    CHECK(env.rendezvous_address == "127.0.0.1");
    CHECK(env.rendezvous_port == 4711);
    CHECK(env.ring_address == (rank == 2 ? "127.0.0.2" : "127.0.0.1"));
    CHECK(env.collective_timeout == Duration(1234));
    CHECK(env.start_timeout == Duration(77));
  }
}

TEST_CASE("MakeWorkerEnvs gives what MakeWorkerEnv gives", "[rendezvous]") {
  const auto envs = MakeWorkerEnvs(Job(), kWorld, {});
  REQUIRE(envs.size() == 3);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(envs[static_cast<std::size_t>(rank)] ==
          MakeWorkerEnv(Job(), kWorld, rank, {}));
  }
}

TEST_CASE("without hvdrun a worker is alone", "[rendezvous]") {
  const auto read = ReadWorkerEnv({{"PATH", "/bin"}, {"HOROVOD_RANK", "1"}});
  REQUIRE(read.ok());
  CHECK_FALSE(read.value());
}

TEST_CASE("a variable that cannot be read is named", "[rendezvous]") {
  struct Case {
    const char* name;
    const char* value;
    const char* message;
  };
  for (const Case& bad : std::vector<Case>{
           {"HVD_RENDEZVOUS_PORT", "65536",
            "environment variable HVD_RENDEZVOUS_PORT is not a number from 0 "
            "to 65535: \"65536\""},
           {"HVD_SLOT", "-1",
            "environment variable HVD_SLOT is not a number from 0 to "
            "2147483647: \"-1\""},
           {"HVD_RANK", "2",
            "environment variable HVD_RANK is not below HVD_SIZE"},
           {"HVD_HOST", "", "environment variable HVD_HOST is empty"},
           {"HVD_JOB_KEY", "no hex",
            "environment variable HVD_JOB_KEY is not hexadecimal"}}) {
    EnvList env = Complete();
    if (std::string(bad.name) == "HVD_RANK") Replace(env, "HVD_SIZE", "2");
    Replace(env, bad.name, bad.value);
    const auto read = ReadWorkerEnv(env);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().code() == ErrorCode::kInvalidArgument);
    CHECK(read.error().message() == bad.message);
  }
}

TEST_CASE("each variable that libhvd needs is missed by name", "[rendezvous]") {
  const std::set<std::string> not_read = {"HVD_EPOCH", "HVD_DEFAULTED"};
  int missed = 0;
  for (const auto& [name, value] : Complete()) {
    if (!name.starts_with("HVD_") || not_read.contains(name)) continue;
    EnvList env = Complete();
    std::erase_if(
        env, [&name = name](const auto& entry) { return entry.first == name; });
    const auto read = ReadWorkerEnv(env);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().message() ==
          "environment variable " + name + " is missing");
    ++missed;
  }
  CHECK(missed == 16);
}

TEST_CASE("each host's workers are told of their own network", "[rendezvous]") {
  JobEnv job = Job();
  job.networks["a"] = {.interface_name = "eth0", .ring_address = "10.0.0.1"};
  job.networks["b"] = {.interface_name = "ens5",
                       .ring_address = "10.0.0.2",
                       .rendezvous_address = "10.0.0.1",
                       .rendezvous_port = 5000,
                       .store_address = "127.0.0.1",
                       .store_port = 6000};
  auto a = AsMap(MakeWorkerEnv(job, kWorld, 0, {}));
  CHECK(a["HVD_RENDEZVOUS_ADDR"] == "127.0.0.1");
  CHECK(a["HVD_RENDEZVOUS_PORT"] == "4711");
  CHECK(a["HOROVOD_GLOO_RENDEZVOUS_PORT"] == "4711");
  CHECK(a["HVD_RING_ADDRESS"] == "10.0.0.1");
  CHECK(a["NCCL_SOCKET_IFNAME"] == "eth0");
  CHECK(a["HOROVOD_GLOO_IFACE"] == "eth0");
  auto b = Rank2(job);
  CHECK(b["HVD_RENDEZVOUS_ADDR"] == "10.0.0.1");
  CHECK(b["HVD_RENDEZVOUS_PORT"] == "5000");
  CHECK(b["HOROVOD_GLOO_RENDEZVOUS_ADDR"] == "127.0.0.1");
  CHECK(b["HOROVOD_GLOO_RENDEZVOUS_PORT"] == "6000");
  CHECK(b["HVD_RING_ADDRESS"] == "10.0.0.2");
  CHECK(b["NCCL_SOCKET_IFNAME"] == "ens5");
  CHECK(b["MASTER_ADDR"] == "10.0.0.1");  // rank 0 is on a
  CHECK(Rank2(job, {{"NCCL_SOCKET_IFNAME", "^docker"}})
            .count("NCCL_SOCKET_IFNAME") == 0);
}

TEST_CASE("a worker's ring stays in the port range", "[rendezvous]") {
  JobEnv job = Job();
  CHECK(Rank2(job).count("HVD_PORT_RANGE") == 0);
  job.port_range = {40000, 40099};
  const EnvList env = MakeWorkerEnv(job, kWorld, 2, {});
  CHECK(EnvFind(env, "HVD_PORT_RANGE") == "40000-40099");
  CHECK(ReadWorkerEnv(env).value()->port_range == job.port_range);
  EnvList bad = env;
  Replace(bad, "HVD_PORT_RANGE", "x");
  CHECK(ReadWorkerEnv(bad).error().message() ==
        "environment variable HVD_PORT_RANGE must be two ports from 1 to "
        "65535, such as 40000-40099");
}

}  // namespace hvd
