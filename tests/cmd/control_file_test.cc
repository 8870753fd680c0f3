#include "cmd/control_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "tests/support/temporary_directory.h"

namespace hvd {
namespace {

using testing::ReadFile;
using testing::TemporaryDirectory;

const std::string kToken(64, 'a');

ControlFile Make(const std::string& path, const std::string& token = kToken) {
  Result<ControlFile> made = ControlFile::Make(path, 4711, token);
  if (!made.ok()) FAIL(made.error().message());
  return std::move(made).value();
}

unsigned ModeOf(const std::string& path) {
  struct stat info {};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

bool Exists(const std::string& path) {
  return std::filesystem::exists(std::filesystem::symlink_status(path));
}

std::size_t FilesIn(const std::string& directory) {
  const std::filesystem::directory_iterator all(directory);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("ControlFile says where to push and with which token", "[cmd]") {
  const TemporaryDirectory dir;
  const ControlFile file = Make(dir / "control");
  const std::string text = ReadFile(dir / "control");
  CHECK(text.find("\nurl = \"http://127.0.0.1:4711/v1/hosts\"\n") !=
        std::string::npos);
  CHECK(text.find("\nheader = \"Authorization: Bearer " + kToken + "\"\n") !=
        std::string::npos);
  CHECK(text.find("\nnoproxy = \"*\"\n") != std::string::npos);
}

TEST_CASE("ControlFile is for its owner alone, whatever the umask", "[cmd]") {
  const TemporaryDirectory dir;
  dir.Write("control", "old", 0644);
  for (const mode_t mask : {0U, 022U, 077U}) {
    const mode_t before = ::umask(mask);
    const ControlFile file = Make(dir / "control");
    ::umask(before);
    CHECK(ModeOf(dir / "control") == 0600);
    CHECK(FilesIn(dir.path()) == 1);
    CHECK_FALSE(ReadFile(dir / "control").starts_with("old"));
  }
}

TEST_CASE("ControlFile goes with its object", "[cmd]") {
  const TemporaryDirectory dir;
  std::optional<ControlFile> file = Make(dir / "control");
  ControlFile moved = *std::move(file);
  file.reset();
  CHECK(Exists(dir / "control"));
  moved = Make(dir / "other");
  CHECK_FALSE(Exists(dir / "control"));
  CHECK(Exists(dir / "other"));
}

TEST_CASE("ControlFile leaves alone what another has put in its place",
          "[cmd]") {
  const TemporaryDirectory dir;
  std::optional<ControlFile> first = Make(dir / "control");
  std::optional<ControlFile> second = Make(dir / "control", kToken + "2");
  first.reset();
  CHECK(ReadFile(dir / "control").find(kToken + "2") != std::string::npos);
  std::filesystem::remove(dir / "control");
  dir.Write("control", "somebody else's");
  second.reset();
  CHECK(ReadFile(dir / "control") == "somebody else's");
}

TEST_CASE("ControlFile replaces a link, not what it leads to", "[cmd]") {
  const TemporaryDirectory dir;
  dir.Write("precious", "kept", 0644);
  REQUIRE(::symlink("precious", (dir / "control").c_str()) == 0);
  const ControlFile file = Make(dir / "control");
  CHECK(ReadFile(dir / "precious") == "kept");
  CHECK(ModeOf(dir / "control") == 0600);
}

TEST_CASE("ControlFile refuses a place where no file can be made", "[cmd]") {
  const TemporaryDirectory dir;
  const auto refusal = [&](const std::string& path) {
    const Result<ControlFile> made = ControlFile::Make(path, 1, kToken);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code() == ErrorCode::kInvalidArgument);
    return made.error().message();
  };
  CHECK(refusal(dir / "missing/control") ==
        "write " + dir.path() + "/missing/control: No such file or directory");
  CHECK(refusal(dir.path()) ==
        "write " + dir.path() + ": what is there is not a regular file");
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  CHECK(refusal(dir / "pipe") ==
        "write " + dir.path() + "/pipe: what is there is not a regular file");
  CHECK(FilesIn(dir.path()) == 1);
}

}  // namespace hvd
