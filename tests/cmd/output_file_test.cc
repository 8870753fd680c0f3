#include "cmd/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/temporary_directory.h"

namespace hvd {

using testing::ReadFile;
using testing::TemporaryDirectory;

TEST_CASE("OutputFile removes what an earlier job left", "[cmd]") {
  const TemporaryDirectory dir;
  const std::string path = dir.Write("result", "old");
  REQUIRE(OutputFile::Prepare(path).ok());
  CHECK(::access(path.c_str(), F_OK) != 0);
}

TEST_CASE("OutputFile appears whole and for its owner alone", "[cmd]") {
  const TemporaryDirectory dir;
  const std::string bytes("a\0b", 3);
  const Result<OutputFile> file = OutputFile::Prepare(dir / "result");
  REQUIRE(file.ok());
  REQUIRE(file.value().Write(bytes).ok());
  CHECK(ReadFile(dir / "result") == bytes);
  struct stat info {};
  REQUIRE(::stat((dir / "result").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600);
  CHECK(::access((dir / "result.part").c_str(), F_OK) != 0);
}

TEST_CASE("OutputFile refuses a place where no file can be made", "[cmd]") {
  const TemporaryDirectory dir;
  CHECK(OutputFile::Prepare(dir / "missing/result").error().message() ==
        "write " + dir.path() + "/missing/result: No such file or directory");
  CHECK(OutputFile::Prepare(dir.path()).error().code() ==
        ErrorCode::kInvalidArgument);
}

}  // namespace hvd
