// --output-filename: what each worker printed, in a file of its own.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

// Nothing may start when files can't be made.
void CheckRefused(const std::string& place, ProgramOptions options = {}) {
  TemporaryDirectory directory;
  const std::string trace = directory / "started";
  const ProgramResult result =
      Hvdrun({"-np", "2", "--output-filename", place, "touch", trace}, options);
  INFO(result.err);
  CHECK(result.status.ToShell() == 125);
  const auto errors = LinesOf(result.err, "hvdrun: error: ");
  REQUIRE(errors.size() == 1);
  CHECK(Contains(errors[0], place));
  CHECK_FALSE(std::filesystem::exists(trace));
}

}  // namespace

TEST_CASE("hvdrun --output-filename keeps each rank's bytes and shows them too",
          "[e2e]") {
  TemporaryDirectory directory;
  const std::string files = directory / "made/on/the/way";
  const ProgramResult result =
      Hvdrun({"-np", "2", "--output-filename", files, "sh", "-c",
              R"(printf "out $HOROVOD_RANK\rbar\nhalf"; echo err >&2)"});
  INFO(result.err);
  CHECK(result.status.ToShell() == 0);
  for (const std::string rank : {"0", "1"}) {
    CHECK(ReadFile(files + "/rank." + rank + "/stdout") ==
          "out " + rank + "\rbar\nhalf");
    CHECK(ReadFile(files + "/rank." + rank + "/stderr") == "err\n");
    CHECK(Contains(result.out, "[" + rank + "]<stdout>:half"));
    CHECK(Contains(result.err, "[" + rank + "]<stderr>:err"));
  }
}

TEST_CASE("hvdrun --output-files only keeps workers' output off the terminal",
          "[e2e]") {
  TemporaryDirectory directory;
  const std::string files = directory / "logs";
  const ProgramResult result =
      Hvdrun({"-np", "2", "--output-filename", files, "--output-files", "only",
              "sh", "-c", "seq 1 50000; echo err >&2"});
  CHECK(result.status.ToShell() == 0);
  CHECK(result.out.empty());
  CHECK_FALSE(Contains(result.err, "<stderr>"));
  for (const std::string rank : {"0", "1"}) {
    const auto lines = Lines(ReadFile(files + "/rank." + rank + "/stdout"));
    REQUIRE(lines.size() == 50'000);
    CHECK(lines.back() == "50000");
    CHECK(ReadFile(files + "/rank." + rank + "/stderr") == "err\n");
  }
}

TEST_CASE("hvdrun --output-filename pads ranks so that they sort", "[e2e]") {
  // horovodrun's names: rank.00 to rank.11 for twelve workers.
  TemporaryDirectory directory;
  const ProgramResult result =
      Hvdrun({"-np", "12", "--output-filename", directory.path(), "sh", "-c",
              "echo $HOROVOD_RANK"});
  CHECK(result.status.ToShell() == 0);
  CHECK(ReadFile(directory / "rank.00/stdout") == "0\n");
  CHECK(ReadFile(directory / "rank.11/stdout") == "11\n");
  CHECK_FALSE(std::filesystem::exists(directory / "rank.0"));
}

TEST_CASE("hvdrun --output-filename works for one worker", "[e2e]") {
  // horovodrun takes log10(0) here.
  TemporaryDirectory directory;
  const ProgramResult result = Hvdrun(
      {"-np", "1", "--output-filename", directory.path(), "echo", "alone"});
  CHECK(result.status.ToShell() == 0);
  CHECK(ReadFile(directory / "rank.0/stdout") == "alone\n");
  CHECK(std::filesystem::exists(directory / "rank.0/stderr"));
}

TEST_CASE("hvdrun --output-filename starts anew with each job", "[e2e]") {
  TemporaryDirectory directory;
  for (const std::string word : {"first", "second"}) {
    CHECK(Hvdrun(
              {"-np", "1", "--output-filename", directory.path(), "echo", word})
              .status.ToShell() == 0);
  }
  CHECK(ReadFile(directory / "rank.0/stdout") == "second\n");
}

TEST_CASE(
    "hvdrun --output-filename keeps what a failed worker said, and names it",
    "[e2e]") {
  TemporaryDirectory directory;
  const ProgramResult result =
      Hvdrun({"-np", "2", "--output-filename", directory.path(), "sh", "-c",
              R"([ $HOROVOD_RANK = 0 ] && exec sleep 30
                 echo the reason >&2; kill -9 $$)"});
  CHECK(result.status.ToShell() == 137);
  CHECK(ReadFile(directory / "rank.1/stderr") == "the reason\n");
  CHECK(Contains(result.err, directory / "rank.1/stderr"));
}

TEST_CASE("hvdrun refuses an --output-filename that it can't write", "[e2e]") {
  TemporaryDirectory directory;
  // A file is in the way: for root too.
  CheckRefused(directory.Write("file", "") + "/below");
  if (::geteuid() != 0) {
    WARN("needs root: an ordinary user beside it");
    return;
  }
  const std::string locked = directory / "locked";
  std::filesystem::create_directory(locked);
  std::filesystem::permissions(locked, std::filesystem::perms::owner_all);
  ProgramOptions nobody;
  nobody.uid = 65534;
  CheckRefused(locked, nobody);
}

}  // namespace hvd::testing
