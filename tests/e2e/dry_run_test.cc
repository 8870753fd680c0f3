// What hvdrun says instead of running anything, or about what it runs.
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd::testing {

TEST_CASE("hvdrun --dry-run shows hosts, ranks, environment and commands",
          "[e2e]") {
  const ProgramResult result =
      Hvdrun({"--dry-run", "-np", "3", "-H", "localhost:2,127.0.0.2:2", "--env",
              "EXTRA=a b", "train", "--lr", "it's"});
  INFO(result.out << result.err);
  CHECK(result.status.ToShell() == 0);
  const std::string& plan = result.out;
  CHECK(Contains(plan, "localhost"));
  CHECK(Contains(plan, "127.0.0.2"));
  CHECK(Contains(plan, "2 slots"));
  CHECK(Count(plan, R"(train --lr 'it'\''s')") == 3);
  for (const std::string rank : {"0", "1", "2"}) {
    CHECK(Contains(plan, "HOROVOD_RANK=" + rank + "\n"));
  }
  CHECK(Contains(plan, "EXTRA='a b'"));
  CHECK(Contains(plan, "<secret>"));
}

TEST_CASE("hvdrun --dry-run starts nothing and makes nothing", "[e2e]") {
  TemporaryDirectory directory;
  const std::string trace = directory / "started";
  const std::string report = directory / "report";
  const std::string logs = directory / "logs";
  const ProgramResult result =
      Hvdrun({"--dry-run", "-np", "2", "--output-filename", logs, "--report",
              report, "touch", trace});
  CHECK(result.status.ToShell() == 0);
  CHECK_FALSE(std::filesystem::exists(trace));
  CHECK_FALSE(std::filesystem::exists(report));
  CHECK_FALSE(std::filesystem::exists(logs));
}

TEST_CASE("hvdrun --dry-run refuses what a run would refuse", "[e2e]") {
  CHECK(Hvdrun({"--dry-run", "-np", "2", "-H", "localhost:1", "true"})
            .status.ToShell() == 125);
  CHECK(Hvdrun({"--dry-run", "-np", "2", "-H", "no-such-host:2", "true"})
            .status.ToShell() == 125);
}

TEST_CASE("hvdrun --dry-run asks nothing of another host", "[e2e]") {
  // 192.0.2.0/24 is for documentation (RFC 5737): nobody answers there.
  const ProgramResult result =
      Hvdrun({"--dry-run", "-np", "2", "-H", "192.0.2.7:2", "true"});
  CHECK(result.status.ToShell() == 0);
  CHECK(result.took < 5s);
  CHECK(Contains(result.out, "192.0.2.7"));
  CHECK(Contains(result.out, "NCCL_SOCKET_IFNAME='<proved at the start>'"));
}

TEST_CASE("hvdrun --check-build says what this build can do", "[e2e]") {
  const ProgramResult result = Hvdrun({"--check-build"});
  CHECK(result.status.ToShell() == 0);
  // horovodrun's headings, which scripts look for.
  CHECK(Contains(result.out, "Available Frameworks:"));
  CHECK(Contains(result.out, "Available Controllers:"));
  CHECK(Contains(result.out, "Available Tensor Operations:"));
  CHECK(Contains(result.out, "hvdrun-keeper"));
  CHECK_FALSE(Contains(result.out, "not found"));
  CHECK(result.err.empty());
}

TEST_CASE(
    "hvdrun --help explains the prefix, the exit codes and repeated hosts",
    "[e2e]") {
  const ProgramResult result = Hvdrun({"--help"});
  CHECK(result.status.ToShell() == 0);
  CHECK(Contains(result.out, "[3]<stdout>:"));
  CHECK(Contains(result.out, "124"));
  CHECK(Contains(result.out, "named twice"));
  CHECK(result.err.empty());
}

TEST_CASE("hvdrun --version prints one line", "[e2e]") {
  for (const std::string flag : {"-v", "--version"}) {
    const ProgramResult result = Hvdrun({flag});
    CHECK(result.status.ToShell() == 0);
    CHECK(Lines(result.out).size() == 1);
    CHECK(Contains(result.out, "0.1.0"));
  }
}

TEST_CASE("hvdrun --explain shows each event and what was decided on it",
          "[e2e]") {
  const ProgramResult result =
      Hvdrun({"--explain", "-np", "2", "sh", "-c",
              "[ $HOROVOD_RANK = 1 ] || sleep 30; exit 6"});
  INFO(result.err);
  CHECK(result.status.ToShell() == 6);
  CHECK(Contains(result.err, "hosts localhost:2"));
  CHECK(Contains(result.err, "publish epoch=1"));
  CHECK(Contains(result.err, "start launch=1 localhost/0 rank=0"));
  CHECK(Contains(result.err, "exit launch=2 code=6"));
  CHECK(result.out.empty());
}

TEST_CASE("hvdrun names the nearest flag for a mistyped one", "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "2", "--start-timout", "5", "true"});
  CHECK(result.status.ToShell() == 125);
  CHECK(Contains(result.err, "--start-timout"));
  CHECK(Contains(result.err, "--start-timeout"));
}

TEST_CASE("hvdrun never parses the user's own words", "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "1", "--output", "raw", "echo", "-np", "2", "--verbose",
              "--no-such-flag", "-v", "--"});
  CHECK(result.status.ToShell() == 0);
  CHECK(result.out == "-np 2 --verbose --no-such-flag -v --\n");
}

}  // namespace hvd::testing
