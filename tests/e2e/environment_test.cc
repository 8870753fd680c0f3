// What a worker finds in its environment, and what never gets there.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "rendezvous/worker_env.h"
#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using Environment = std::map<std::string, std::string>;

// Each worker's environment, by rank. `words`: hvdrun's flags.
std::vector<Environment> EnvironmentsOf(std::vector<std::string> words,
                                        int workers,
                                        ProgramOptions options = {}) {
  TemporaryDirectory directory;
  for (const std::string& word :
       {std::string("sh"), std::string("-c"),
        std::string(R"(env -0 > "$0/$HOROVOD_RANK")"), directory.path()}) {
    words.push_back(word);
  }
  const ProgramResult result = Hvdrun(words, options);
  INFO(result.err);
  REQUIRE(result.status.ToShell() == 0);
  std::vector<Environment> environments;
  for (int rank = 0; rank < workers; ++rank) {
    environments.push_back(
        Variables(ReadFile(directory / std::to_string(rank))));
    REQUIRE_FALSE(environments.back().empty());
  }
  return environments;
}

std::string Value(const Environment& env, const std::string& name) {
  const auto found = env.find(name);
  return found == env.end() ? "(unset)" : found->second;
}

void CheckValues(const Environment& env, const Environment& expected) {
  for (const auto& [name, value] : expected) {
    INFO(name);
    CHECK(Value(env, name) == value);
  }
}

ProgramOptions WithVariables(EnvList env) {
  ProgramOptions options;
  options.env = std::move(env);
  return options;
}

struct Six {
  std::string host, rank, size, local_rank, local_size, cross_rank, cross_size;
};

}  // namespace

TEST_CASE("every worker has its six numbers in Horovod's names", "[e2e]") {
  // By hand; the hosts are uneven. Horovod #3949.
  const std::vector<Six> table{
      {"localhost", "0", "5", "0", "2", "0", "2"},
      {"localhost", "1", "5", "1", "2", "0", "2"},
      {"127.0.0.2", "2", "5", "0", "3", "1", "2"},
      {"127.0.0.2", "3", "5", "1", "3", "1", "2"},
      {"127.0.0.2", "4", "5", "2", "3", "0", "1"},
  };
  const auto environments =
      EnvironmentsOf({"-np", "5", "-H", "localhost:2,127.0.0.2:3"}, 5);
  for (std::size_t rank = 0; rank < table.size(); ++rank) {
    INFO("rank " << rank);
    const Six& six = table[rank];
    CheckValues(environments[rank], {{"HOROVOD_HOSTNAME", six.host},
                                     {"HOROVOD_RANK", six.rank},
                                     {"HOROVOD_SIZE", six.size},
                                     {"HOROVOD_LOCAL_RANK", six.local_rank},
                                     {"HOROVOD_LOCAL_SIZE", six.local_size},
                                     {"HOROVOD_CROSS_RANK", six.cross_rank},
                                     {"HOROVOD_CROSS_SIZE", six.cross_size}});
  }
}

TEST_CASE("every worker of a cut host list has the same six numbers", "[e2e]") {
  const std::vector<Six> table{
      {"localhost", "0", "4", "0", "2", "0", "2"},
      {"localhost", "1", "4", "1", "2", "0", "2"},
      {"127.0.0.2", "2", "4", "0", "2", "1", "2"},
      {"127.0.0.2", "3", "4", "1", "2", "1", "2"},
  };
  const auto environments =
      EnvironmentsOf({"-np", "4", "-H", "localhost:2,127.0.0.2:3"}, 4);
  for (std::size_t rank = 0; rank < table.size(); ++rank) {
    const Six& six = table[rank];
    CheckValues(environments[rank], {{"HOROVOD_RANK", six.rank},
                                     {"HOROVOD_LOCAL_RANK", six.local_rank},
                                     {"HOROVOD_LOCAL_SIZE", six.local_size},
                                     {"HOROVOD_CROSS_RANK", six.cross_rank},
                                     {"HOROVOD_CROSS_SIZE", six.cross_size},
                                     // PyTorch's names for the same.
                                     {"RANK", six.rank},
                                     {"WORLD_SIZE", six.size},
                                     {"LOCAL_RANK", six.local_rank},
                                     {"LOCAL_WORLD_SIZE", six.local_size},
                                     {"GROUP_RANK", rank < 2 ? "0" : "1"}});
  }
}

TEST_CASE("every worker is told where to meet, in all the names", "[e2e]") {
  const auto environments =
      EnvironmentsOf({"-np", "4", "-H", "localhost:2,127.0.0.2:3"}, 4);
  const Environment& first = environments[0];
  for (const Environment& env : environments) {
    CheckValues(env, {{"HOROVOD_GLOO_RENDEZVOUS_ADDR", "127.0.0.1"},
                      {"HOROVOD_CONTROLLER", "gloo"},
                      {"HOROVOD_CPU_OPERATIONS", "gloo"},
                      {"HOROVOD_GLOO_IFACE", "lo"},
                      {"NCCL_SOCKET_IFNAME", "lo"},
                      {"MASTER_ADDR", "127.0.0.1"},
                      {"TORCHELASTIC_USE_AGENT_STORE", "False"},
                      {"TORCHELASTIC_RESTART_COUNT", "0"},
                      {"HOROVOD_ELASTIC", "(unset)"},
                      {"OMPI_COMM_WORLD_RANK", "(unset)"},
                      {"PMI_RANK", "(unset)"}});
    for (const char* same : {"HOROVOD_GLOO_RENDEZVOUS_PORT", "MASTER_PORT",
                             "TORCHELASTIC_RUN_ID"}) {
      INFO(same);
      CHECK(Value(env, same) != "(unset)");
      CHECK(Value(env, same) == Value(first, same));
    }
    for (const char* port : {"HOROVOD_GLOO_RENDEZVOUS_PORT", "MASTER_PORT"}) {
      CHECK(std::stoi(Value(env, port)) > 0);
    }
    CHECK(Value(env, "MASTER_PORT") !=
          Value(env, "HOROVOD_GLOO_RENDEZVOUS_PORT"));
    for (const std::string& secret : SecretVariables()) {
      CHECK(Value(env, secret) != "(unset)");
      CHECK(Value(env, secret) == Value(first, secret));
    }
  }
}

TEST_CASE("what hvdrun gives a worker is what libhvd reads", "[e2e]") {
  const auto environments =
      EnvironmentsOf({"-np", "3", "-H", "localhost:2,127.0.0.2:3",
                      "--collective-timeout", "7.5"},
                     3);
  const EnvList last(environments[2].begin(), environments[2].end());
  const auto read = ReadWorkerEnv(last);
  REQUIRE(read.ok());
  REQUIRE(read.value().has_value());
  const WorkerEnv& worker = *read.value();
  CHECK(worker.worker == WorkerId{"127.0.0.2", 0});
  CHECK(worker.placement.rank == 2);
  CHECK(worker.placement.size == 3);
  CHECK(worker.placement.cross_rank == 1);
  CHECK(worker.job_key.size() == 32);
  CHECK(worker.collective_timeout == Duration(7'500));
}

TEST_CASE("hvdrun --rank-env mpi adds the names of Open MPI and MPICH",
          "[e2e]") {
  const auto environments = EnvironmentsOf(
      {"-np", "3", "-H", "localhost:2,127.0.0.2:3", "--rank-env", "mpi"}, 3);
  CheckValues(environments[2], {{"OMPI_COMM_WORLD_RANK", "2"},
                                {"OMPI_COMM_WORLD_SIZE", "3"},
                                {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
                                {"PMI_RANK", "2"},
                                {"PMI_SIZE", "3"},
                                {"HOROVOD_RANK", "2"}});
}

TEST_CASE("no slot variable of the user's shell reaches a worker", "[e2e]") {
  const ProgramOptions outer =
      WithVariables({{"HOROVOD_RANK", "99"},
                     {"HOROVOD_HOSTNAME", "elsewhere"},
                     {"HOROVOD_ELASTIC", "1"},
                     {"HOROVOD_GLOO_RENDEZVOUS_PORT", "99"},
                     {"RANK", "99"},
                     {"WORLD_SIZE", "99"},
                     {"LOCAL_RANK", "99"},
                     {"MASTER_PORT", "99"},
                     {"TORCHELASTIC_RUN_ID", "99"},
                     {"OMPI_COMM_WORLD_RANK", "99"},
                     {"OMPI_COMM_WORLD_LOCAL_RANK", "99"},
                     {"PMI_RANK", "99"},
                     {"PMI_SIZE", "99"},
                     {"HVD_LEFT_OVER", "99"},
                     {"HVDRUN_VERBOSE", "0"}});
  for (const Environment& env : EnvironmentsOf({"-np", "2"}, 2, outer)) {
    for (const auto& [name, value] : env) {
      INFO(name);
      CHECK(value != "99");
      CHECK(value != "elsewhere");
      CHECK(name.rfind("HVDRUN_", 0) != 0);
    }
    CHECK(Value(env, "HOROVOD_ELASTIC") == "(unset)");
    CHECK(Value(env, "OMPI_COMM_WORLD_RANK") == "(unset)");
    CHECK(Value(env, "PMI_RANK") == "(unset)");
  }
}

TEST_CASE("hvdrun inside a worker of hvdrun starts a job of its own", "[e2e]") {
  const std::string inner =
      R"("$0" -np 3 "$1" --steps 2 --rate 0 | sed "s/^/$HOROVOD_RANK-/")";
  const ProgramResult result =
      Hvdrun({"-np", "2", "--output", "raw", "--rank-env", "mpi", "sh", "-c",
              inner, Bin("hvdrun"), Bin("ring")});
  INFO(result.out << result.err);
  CHECK(result.status.ToShell() == 0);
  for (const std::string outer : {"0", "1"}) {
    const auto lines = LinesOf(result.out, outer + "-[2]<stdout>:");
    REQUIRE(lines.size() == 2);
    CHECK(Contains(lines[1], "rank=2 size=3 step=2 sum=12 "));
  }
}

TEST_CASE("what the user set for NCCL and for scripts wins", "[e2e]") {
  // Horovod #2295, accelerate PR #514; '=lo' as in NCCL #1837.
  const Environment theirs{{"NCCL_SOCKET_IFNAME", "=lo"},
                           {"PYTHONPATH", "/a:/b"},
                           {"OMP_NUM_THREADS", "7"},
                           {"CUDA_VISIBLE_DEVICES", "GPU-abc"},
                           {"LD_LIBRARY_PATH", "/a:$LD_LIBRARY_PATH:/b c"}};
  const auto environments = EnvironmentsOf(
      {"-np", "2"}, 2, WithVariables({theirs.begin(), theirs.end()}));
  for (const Environment& env : environments) CheckValues(env, theirs);
}

TEST_CASE("hvdrun adds only names that say who asks and where", "[e2e]") {
  const auto environments = EnvironmentsOf({"-np", "1"}, 1);
  const Environment before = Variables(RunProgram({"sh", "-c", "env -0"}).out);
  for (const auto& [name, value] : environments[0]) {
    if (before.contains(name)) continue;
    INFO(name);
    bool known = false;
    for (const char* prefix :
         {"HVD_", "HOROVOD_", "TORCHELASTIC_", "NCCL_SOCKET_IFNAME", "RANK",
          "WORLD_SIZE", "LOCAL_", "GROUP_", "ROLE_", "MASTER_",
          "PYTHONUNBUFFERED"}) {
      known = known || name.rfind(prefix, 0) == 0;
    }
    CHECK(known);
  }
}

TEST_CASE("an exported shell function arrives as it is", "[e2e]") {
  // Horovod #948.
  const ProgramResult result =
      RunProgram({"bash", "-c",
                  R"sh(greet() { echo "hi (there) 'x'"; }; export -f greet
            exec "$0" -np 1 --output raw bash -c greet)sh",
                  Bin("hvdrun")});
  CHECK(result.status.ToShell() == 0);
  CHECK(result.out == "hi (there) 'x'\n");
}

TEST_CASE("a worker's arguments are the words that hvdrun got", "[e2e]") {
  // DeepSpeed #4523.
  const std::vector<std::string> words{
      "--p=a b", "it's", R"(say "x")",       R"({"k": [1, "v w"]})", "",
      "$HOME",   "*",    "back\\slash\n2nd", "\xc3\xa9\xff"};
  std::vector<std::string> command{"printf", "[%s]"};
  command.insert(command.end(), words.begin(), words.end());
  std::vector<std::string> flags{"-np", "1", "--output", "raw", "env"};
  flags.insert(flags.end(), command.begin(), command.end());
  command.insert(command.begin(), "env");  // not a shell's builtin
  const ProgramResult result = Hvdrun(flags);
  CHECK(result.status.ToShell() == 0);
  CHECK(result.out == RunProgram(command).out);
}

TEST_CASE("hvdrun --env gives variables to every worker", "[e2e]") {
  // Horovod #2340.
  const ProgramOptions outer = WithVariables({{"B", "from\nhere"}});
  const auto environments = EnvironmentsOf(
      {"-np", "2", "--env", "A=b c", "--env", "B", "--env", "E="}, 2, outer);
  for (const Environment& env : environments) {
    CheckValues(env, {{"A", "b c"}, {"B", "from\nhere"}, {"E", ""}});
  }
  const ProgramResult missing =
      Hvdrun({"-np", "1", "--env", "MISSING", "true"});
  CHECK(missing.status.ToShell() == 0);
  CHECK(Contains(missing.err, "MISSING"));
}

TEST_CASE("flags can be given as HVDRUN_ variables, and flags win", "[e2e]") {
  const ProgramOptions outer =
      WithVariables({{"HVDRUN_NUM_PROC", "3"}, {"HVDRUN_OUTPUT", "raw"}});
  CHECK(Hvdrun({"echo", "x"}, outer).out == "x\nx\nx\n");
  CHECK(Hvdrun({"-np", "1", "echo", "x"}, outer).out == "x\n");
  const ProgramResult wrong =
      Hvdrun({"echo", "x"}, WithVariables({{"HVDRUN_NUM_PROC", "many"}}));
  CHECK(wrong.status.ToShell() == 125);
  CHECK(Contains(wrong.err, "HVDRUN_NUM_PROC"));
}

}  // namespace hvd::testing
