// What workers tell hvdrun through libhvd: lines for the terminal, a result.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {

TEST_CASE(
    "hvdrun --driver-log callback-only shows what is sent to the driver alone",
    "[e2e]") {
  TemporaryDirectory directory;
  const std::string files = directory / "logs";
  const ProgramResult result =
      Hvdrun({"-np", "2", "--driver-log", "callback-only", "--output-filename",
              files, E2eWorker(), "log", "10"});
  INFO(result.out << result.err);
  CHECK(result.status.ToShell() == 0);
  CHECK(Lines(result.out).size() == 2);
  for (const std::string rank : {"0", "1"}) {
    CHECK(LinesOf(result.out, "[" + rank + "]<log>:") ==
          std::vector<std::string>{"rank " + rank + " xxxxxxxxxx"});
    CHECK(Contains(ReadFile(files + "/rank." + rank + "/stdout"),
                   "printed xxxxxxxxxx\n"));
  }
}

TEST_CASE(
    "hvdrun --driver-log callback-only without a place for full logs is "
    "refused",
    "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "1", "--driver-log", "callback-only", "true"});
  CHECK(result.status.ToShell() == 125);
  CHECK(Contains(result.err, "--output-filename"));
}

TEST_CASE("hvdrun shows at most 4000 bytes of a line to the driver", "[e2e]") {
  const ProgramResult result =
      Hvdrun({"-np", "1", "--output", "none", E2eWorker(), "log", "5000"});
  CHECK(result.status.ToShell() == 0);
  const auto lines = Lines(result.out);
  REQUIRE(lines.size() == 1);
  const std::size_t text = lines[0].find("rank 0 x");
  REQUIRE(text != std::string::npos);
  // "rank 0 " and 3993 x; then a mark.
  CHECK(lines[0].find_first_not_of('x', text + 7) == text + 4000);
  CHECK(lines[0].size() < text + 4100);
}

TEST_CASE("LogToDriver without hvdrun prints", "[e2e]") {
  const ProgramResult result = RunProgram({E2eWorker(), "log", "3"});
  CHECK(result.status.ToShell() == 0);
  CHECK(Contains(result.out, "rank 0 xxx\n"));
}

TEST_CASE("hvdrun --result-file holds rank 0's result when the job succeeded",
          "[e2e]") {
  TemporaryDirectory directory;
  const std::string file = directory.Write("result", "of yesterday");
  const ProgramResult result =
      Hvdrun({"-np", "2", "--result-file", file, E2eWorker(), "result", "0",
              "first\nof all", "second"});
  INFO(result.err);
  CHECK(result.status.ToShell() == 0);
  CHECK(ReadFile(file) == "first\nof all");
}

TEST_CASE("hvdrun --result-file does not exist when the job failed", "[e2e]") {
  TemporaryDirectory directory;
  const std::string file = directory.Write("result", "of yesterday");
  const ProgramResult result =
      Hvdrun({"-np", "2", "--result-file", file, E2eWorker(), "result", "3",
              "first", "second"});
  INFO(result.err);
  CHECK(result.status.ToShell() == 3);
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("hvdrun --result-file is removed while the job runs", "[e2e]") {
  TemporaryDirectory directory;
  const std::string file = directory.Write("result", "of yesterday");
  const ProgramResult result =
      Hvdrun({"-np", "1", "--result-file", file, "test", "!", "-e", file});
  CHECK(result.status.ToShell() == 0);
}

TEST_CASE("hvdrun refuses a --result-file that it could not write", "[e2e]") {
  TemporaryDirectory directory;
  const std::string trace = directory / "started";
  const ProgramResult result =
      Hvdrun({"-np", "1", "--result-file", directory / "no/such/place", "touch",
              trace});
  CHECK(result.status.ToShell() == 125);
  CHECK(Contains(result.err, "no/such/place"));
  CHECK_FALSE(std::filesystem::exists(trace));
}

}  // namespace hvd::testing
