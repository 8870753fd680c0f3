#include "base/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <sstream>
#include <string>

#include "base/unique_fd.h"
#include "tests/support/temporary_directory.h"

namespace hvd {

using testing::TemporaryDirectory;

namespace {

struct Output {
  std::string text;
  ExitStatus status;
};

// Runs `spec` to its end with its stdout in a pipe.
Output RunToEnd(ProcessSpec spec) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  spec.stdout_fd = write_end.get();
  const Result<pid_t> pid = Spawn(spec);
  REQUIRE(pid.ok());
  const Result<UniqueFd> pidfd = OpenPidfd(pid.value());
  REQUIRE(pidfd.ok());
  write_end.Reset();
  Output output;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t n = ::read(read_end.get(), buffer.data(), buffer.size());
    if (n <= 0) break;
    output.text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  output.status = ReapPidfd(pidfd.value().get());
  return output;
}

ProcessSpec Shell(const std::string& script) {
  return {.program = "/bin/sh",
          .argv = {"sh", "-c", script},
          .env = {{"PATH", "/usr/bin:/bin"}},
          .cwd = ""};
}

}  // namespace

TEST_CASE("a killed child reports its signal", "[base]") {
  CHECK(RunToEnd(Shell("kill -KILL $$")).status == ExitStatus{0, SIGKILL});
}

TEST_CASE("every exit code from 0 to 255 arrives as it is", "[base]") {
  for (int code = 0; code < 256; ++code) {
    REQUIRE(RunToEnd(Shell("exit " + std::to_string(code))).status ==
            ExitStatus{code, 0});
  }
}

TEST_CASE("a child leads a session of its own", "[base]") {
  const Output output =
      RunToEnd(Shell("read p c s x g sid r </proc/self/stat; "
                     "[ $sid = $$ ] && echo leader"));
  CHECK(output.text == "leader\n");
}

TEST_CASE("a child inherits nothing above descriptor 2", "[base]") {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd leak(::fcntl(null.get(), F_DUPFD, 77));  // no close-on-exec
  const Output output =
      RunToEnd(Shell("for f in /proc/$$/fd/*; do echo ${f##*/}; done"));
  CHECK(output.text.find("0\n1\n2\n") == 0);
  CHECK(output.text.find("77") == std::string::npos);
}

TEST_CASE("a child has no blocked and no ignored signal", "[base]") {
  std::signal(SIGPIPE, SIG_IGN);
  const Output output =
      RunToEnd(Shell("grep -E 'SigBlk|SigIgn' /proc/self/status"));
  std::signal(SIGPIPE, SIG_DFL);
  std::istringstream words(output.text);
  std::string name;
  unsigned long blocked = 1;
  unsigned long ignored = 1;
  words >> name >> std::hex >> blocked >> name >> ignored;
  CHECK(blocked == 0);
  // 32 and 33 are glibc's own; no program can reset them.
  CHECK((ignored & ~0x180000000UL) == 0);
}

TEST_CASE("a child starts in the directory it was given", "[base]") {
  ProcessSpec spec = Shell("pwd");
  spec.cwd = "/usr";
  CHECK(RunToEnd(spec).text == "/usr\n");
}

TEST_CASE("a script without #! is run by /bin/sh", "[base]") {
  const TemporaryDirectory dir;
  const std::string script = dir.Write("plain", "echo hello $1\n", 0755);
  CHECK(RunToEnd({.program = script,
                  .argv = {script, "you"},
                  .env = {{"PATH", "/usr/bin:/bin"}},
                  .cwd = ""})
            .text == "hello you\n");
}

TEST_CASE("FindProgram looks in PATH as a shell does", "[base]") {
  const TemporaryDirectory dir;
  const std::string tool = dir.Write("tool", "#!/bin/sh\n", 0755);
  dir.Write("data", "x", 0644);
  CHECK(FindProgram("tool", "/nowhere:" + dir.path(), "").value() == tool);
  CHECK(FindProgram("tool", ":", dir.path()).value() == "./tool");
  CHECK(FindProgram("tool", "/nowhere", "").error().message() ==
        "tool: command not found");
  CHECK(FindProgram("tool", "/nowhere", "").error().code() ==
        ErrorCode::kNotFound);
  CHECK(FindProgram("data", dir.path(), "").error().code() ==
        ErrorCode::kInvalidArgument);
}

TEST_CASE("FindProgram takes a name with a slash as a path", "[base]") {
  CHECK(FindProgram("/bin/sh", "", "").value() == "/bin/sh");
  CHECK(FindProgram("./sh", "", "/bin").value() == "./sh");
  CHECK(FindProgram("/no/such", "", "").error().message() ==
        "/no/such: No such file or directory");
  CHECK(FindProgram("/tmp", "", "").error().code() ==
        ErrorCode::kInvalidArgument);
}

TEST_CASE("a program that cannot be executed is an error and no child",
          "[base]") {
  const TemporaryDirectory dir;
  const std::string bad = dir.Write("bad", "#!/no/such/interpreter\n", 0755);
  const Result<pid_t> pid =
      Spawn({.program = bad, .argv = {bad}, .env = {}, .cwd = ""});
  REQUIRE_FALSE(pid.ok());
  CHECK(pid.error().code() == ErrorCode::kNotFound);
}

TEST_CASE("a child is not started with a descriptor that can't be its own",
          "[base]") {
  ProcessSpec spec = Shell("true");
  spec.stdout_fd = -1;
  const Result<pid_t> pid = Spawn(spec);
  REQUIRE_FALSE(pid.ok());
  CHECK(pid.error().code() == ErrorCode::kUnavailable);
  CHECK(pid.error().message() ==
        "/bin/sh: its descriptors: Bad file descriptor");
}

}  // namespace hvd
