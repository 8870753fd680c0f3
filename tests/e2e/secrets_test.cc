// What must never be shown: the job's key, and the user's own secrets.
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>

#include "rendezvous/worker_env.h"
#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

std::string KeyVariable() {
  const auto names = SecretVariables();
  REQUIRE_FALSE(names.empty());
  return names[0];
}

// Processes whose command line, which everybody may read, has `text`.
std::size_t CommandLinesWith(const std::string& text) {
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (Contains(ReadFile(entry.path() / "cmdline"), text)) ++found;
  }
  return found;
}

}  // namespace

TEST_CASE("no secret is shown while a job runs, nor by what it leaves",
          "[e2e]") {
  // keepsake #56. Once it succeeds, once a rank aborts.
  const std::string token = "s3cr3t" + UniqueMark();
  for (const std::string ending : {"exit 0", "kill -ABRT $$"}) {
    TemporaryDirectory directory;
    const std::string key_file = directory / "key";
    const std::string report = directory / "report";
    const std::string go = directory / "go";
    ProgramOptions options;
    options.env = {{"API_TOKEN", token}};
    Program program(
        HvdrunCommand({"--verbose", "--explain", "--log-level", "TRACE",
                       "--report", report, "-np", "2", "-H",
                       "localhost:1,127.0.0.2:1", "sh", "-c",
                       "printf %s \"$" + KeyVariable() +
                           "\" > \"$0\"; [ $HOROVOD_RANK = 0 ] && echo up; "
                           "until [ -e \"$1\" ]; do sleep 0.02; done; " +
                           ending,
                       key_file, go}),
        options);
    REQUIRE(program.WaitForOutput("up"));
    const std::string key = ReadFile(key_file);
    REQUIRE(key.size() >= 32);
    CHECK(CommandLinesWith(token) == 0);
    CHECK(CommandLinesWith(key) == 0);
    directory.Write("go", "");
    const ProgramResult result = program.Wait();
    CHECK(result.status.ToShell() == (ending == "exit 0" ? 0 : 134));
    const std::string written = ReadFile(report);
    REQUIRE_FALSE(written.empty());
    for (const std::string& secret : {token, key}) {
      CHECK_FALSE(Contains(result.out + result.err, secret));
      CHECK_FALSE(Contains(written, secret));
    }
  }
}

TEST_CASE("hvdrun --dry-run hides the key and --env shows what was asked for",
          "[e2e]") {
  ProgramOptions options;
  options.env = {{"API_TOKEN", "s3cr3tTOK"}};
  const ProgramResult result =
      Hvdrun({"--dry-run", "--verbose", "-np", "2", "true"}, options);
  CHECK(result.status.ToShell() == 0);
  CHECK(Contains(result.out, KeyVariable() + "=<secret>\n"));
  CHECK_FALSE(Contains(result.out + result.err, "s3cr3tTOK"));
}

TEST_CASE("each job has a key of its own", "[e2e]") {
  const std::vector<std::string> words{"-np",
                                       "1",
                                       "--output",
                                       "raw",
                                       "sh",
                                       "-c",
                                       "printf %s \"$" + KeyVariable() + "\""};
  const std::string first = Hvdrun(words).out;
  CHECK(first.size() == 64);  // 32 bytes
  CHECK(Hvdrun(words).out != first);
}

TEST_CASE("libhvd unsets the key, so that no child of a worker has it",
          "[e2e]") {
  const ProgramResult result = Hvdrun({"-np", "2", E2eWorker(), "secrets"});
  INFO(result.out << result.err);
  CHECK(result.status.ToShell() == 0);
  for (const std::string rank : {"0", "1"}) {
    bool after = false;
    std::size_t seen_before = 0;
    for (const std::string& line :
         LinesOf(result.out, "[" + rank + "]<stdout>:")) {
      after = after || line == "after";
      for (const std::string& secret : SecretVariables()) {
        if (line != secret) continue;
        CHECK_FALSE(after);
        ++seen_before;
      }
    }
    CHECK(after);
    CHECK(seen_before == SecretVariables().size());
  }
}

TEST_CASE("files that hvdrun writes are the user's alone", "[e2e]") {
  TemporaryDirectory directory;
  const std::string report = directory / "report";
  const std::string outcome = directory / "outcome";
  CHECK(Hvdrun({"-np", "2", "--report", report, "--result-file", outcome,
                E2eWorker(), "result", "0", "mine", "other"})
            .status.ToShell() == 0);
  using std::filesystem::perms;
  for (const std::string& file : {report, outcome}) {
    INFO(file);
    const perms open_to_others = std::filesystem::status(file).permissions() &
                                 (perms::group_all | perms::others_all);
    CHECK(open_to_others == perms::none);
  }
}

}  // namespace hvd::testing
