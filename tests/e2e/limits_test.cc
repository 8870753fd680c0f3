// hvdrun under the limits that a machine or a user sets.
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

constexpr std::size_t kLarge = 100'000;  // below the kernel's 128 KiB a string

// Nothing but PATH and variables of `kLarge` bytes, `bytes` in all.
ProgramOptions WithEnvironment(std::size_t bytes) {
  ProgramOptions options;
  for (const auto& [name, value] : CurrentEnvironment()) {
    if (name != "PATH") options.unset.push_back(name);
  }
  for (int i = 0; bytes > 0; ++i) {
    const std::size_t size = std::min(bytes, kLarge);
    options.env.emplace_back("LARGE_" + std::to_string(i),
                             std::string(size, 'x'));
    bytes -= size;
  }
  return options;
}

ProgramOptions Limited(ResourceLimit limit) {
  ProgramOptions options;
  options.limits = {limit};
  return options;
}

}  // namespace

TEST_CASE("hvdrun hands on an environment of 3 MB", "[e2e]") {
  ProgramOptions options = WithEnvironment(3'000'000);
  options.limits = {{RLIMIT_STACK, RLIM_INFINITY}};
  const ProgramResult result =
      Hvdrun({"-np", "2", "--output", "raw", "sh", "-c",
              "env | grep -c '^LARGE_[0-9]*=x*$'"},
             options);
  INFO(result.err);
  CHECK(result.status.ToShell() == 0);
  CHECK(result.out == "30\n30\n");
}

TEST_CASE("hvdrun makes room where its own variables are one too many",
          "[e2e]") {
  // The kernel takes a quarter of the stack limit: hvdrun's own start just
  // fits, a worker's has about 2 kB more.
  constexpr rlim_t kStack = 1 << 20;
  ProgramOptions options = WithEnvironment(kStack / 4 - 1'500);
  options.limits = {{RLIMIT_STACK, kStack}};
  const ProgramResult result =
      Hvdrun({"-np", "2", "--output", "raw", "sh", "-c",
              "echo ${#LARGE_0} ${#LARGE_1} ${#HOROVOD_RANK}"},
             options);
  INFO(result.err);
  CHECK(result.status.ToShell() == 0);
  CHECK(result.out == "100000 100000 1\n100000 100000 1\n");
}

TEST_CASE("hvdrun names the largest variable when the kernel takes no more",
          "[e2e]") {
  // 6 MiB in all, whatever the stack limit.
  TemporaryDirectory directory;
  const std::string trace = directory / "started";
  ProgramOptions options = WithEnvironment((6U << 20U) - 1'500);
  options.limits = {{RLIMIT_STACK, RLIM_INFINITY}};
  const ProgramResult result = Hvdrun({"-np", "2", "touch", trace}, options);
  INFO(result.err);
  CHECK(result.status.ToShell() == 125);
  const auto errors = LinesOf(result.err, "hvdrun: error: ");
  REQUIRE(errors.size() == 1);
  CHECK(Contains(errors[0], "LARGE_"));
  CHECK(Contains(errors[0], "6291456"));
  CHECK_FALSE(std::filesystem::exists(trace));
}

TEST_CASE("hvdrun runs four workers with 64 open files", "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "4", Bin("ring"), "--steps", "3", "--rate", "0"},
             Limited({RLIMIT_NOFILE, 64}));
  INFO(result.err);
  CHECK(result.status.ToShell() == 0);
  CHECK(Lines(result.out).size() == 12);
}

TEST_CASE("hvdrun says in one line that 64 open files are too few", "[e2e]") {
  ProgramOptions options;
  options.limits = {{RLIMIT_NOFILE, 64, ResourceLimit::kHardToo}};
  const ProgramResult result = Hvdrun({"-np", "64", "true"}, options);
  CHECK(result.status.ToShell() == 125);
  CHECK(result.out.empty());
  const auto errors = LinesOf(result.err, "hvdrun: error: ");
  REQUIRE(errors.size() == 1);
  CHECK(Contains(errors[0], "open files"));
  CHECK(Contains(errors[0], "64"));
  CHECK(Contains(result.err, "ulimit -n"));
}

TEST_CASE("hvdrun gives workers the limits that it was started with", "[e2e]") {
  const std::string show =
      "ulimit -Sn; ulimit -Hn; ulimit -Ss; ulimit -Hs; ulimit -Sc; ulimit -Sl";
  ProgramOptions options;
  options.limits = {
      {RLIMIT_NOFILE, 96}, {RLIMIT_STACK, 4 << 20}, {RLIMIT_CORE, 0}};
  const ProgramResult direct = RunProgram({"sh", "-c", show}, options);
  const ProgramResult result =
      Hvdrun({"-np", "12", "--output", "raw", "sh", "-c",
              "[ $HOROVOD_RANK != 3 ] || { " + show + "; }"},
             options);
  INFO(result.err);
  CHECK(result.status.ToShell() == 0);
  CHECK(Lines(result.out).size() == 6);
  CHECK(result.out == direct.out);
}

TEST_CASE("hvdrun of a local job loads nothing that it does not need",
          "[e2e]") {
  TemporaryDirectory directory;
  const std::string trace = directory / "trace";
  ProgramOptions options;
  // A build with sanitizers can't look for leaks under ptrace.
  options.env = {{"ASAN_OPTIONS", "detect_leaks=0"}};
  const ProgramResult result =
      RunProgram({"strace", "-f", "-e", "trace=open,openat", "-o", trace,
                  Bin("hvdrun"), "-np", "1", "true"},
                 options);
  INFO(result.err);
  REQUIRE(result.status.ToShell() == 0);
  const std::string opened = ReadFile(trace);
  REQUIRE(Contains(opened, "libc.so"));
  for (const std::string heavy :
       {"grpc", "protobuf", "absl", "hwloc", "cuda", "nccl", "libssl",
        "libcrypto", "libnvidia", "libmpi"}) {
    INFO(heavy);
    CHECK_FALSE(Contains(opened, heavy));
  }
}

}  // namespace hvd::testing
