#include "launcher/output_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <regex>
#include <string>

#include "tests/launcher/mux_host.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd {

using testing::MuxHost;
using testing::ReadFile;
using testing::TemporaryDirectory;

TEST_CASE("a worker's files hold its bytes as they came", "[launcher]") {
  const TemporaryDirectory directory;
  const std::string place = directory / "a/b";
  MuxHost host({.files_directory = place, .expected_workers = 12});
  const std::string bytes = std::string("a\r\nb\xff") + '\0' + "c\rhalf";
  auto& worker = host.AddWorker(3, 0);
  MuxHost::Write(worker.out, bytes);
  MuxHost::Write(worker.err, "oops\n");
  host.mux().Drain(LaunchId{0});
  REQUIRE(host.Flush());
  CHECK(ReadFile(place + "/rank.03/stdout") == bytes);
  CHECK(ReadFile(place + "/rank.03/stderr") == "oops\n");
  // The terminal has it too.
  CHECK(host.err.text() == "[3]<stderr>:oops\n");
  // Every rank's files are there, even if it never printed.
  CHECK(std::filesystem::exists(place + "/rank.00/stdout"));
  CHECK(std::filesystem::exists(place + "/rank.11/stderr"));
  CHECK_FALSE(std::filesystem::exists(place + "/rank.12"));
}

TEST_CASE("one worker has a file of its own", "[launcher]") {
  const TemporaryDirectory directory;
  MuxHost host({.files_directory = directory.path(), .expected_workers = 1});
  MuxHost::Write(host.AddWorker(0, 0).out, "hello\n");
  host.mux().Drain(LaunchId{0});
  REQUIRE(host.Flush());
  CHECK(ReadFile(directory / "rank.0/stdout") == "hello\n");
}

TEST_CASE("with files only, the terminal stays quiet", "[launcher]") {
  const TemporaryDirectory directory;
  MuxHost host({.files_directory = directory.path(),
                .files_mode = OutputFilesMode::kOnly});
  auto& worker = host.AddWorker(0, 0);
  MuxHost::Write(worker.out, "hello\n");
  MuxHost::Write(worker.err, "oops\n");
  host.mux().Drain(LaunchId{0});
  REQUIRE(host.Flush());
  CHECK(host.out.text().empty());
  CHECK(host.err.text().empty());
  CHECK(ReadFile(directory / "rank.0/stdout") == "hello\n");
  CHECK(host.mux().LastStderr(LaunchId{0}).size() == 1);
}

TEST_CASE("a second life of a rank appends below a header line", "[launcher]") {
  const TemporaryDirectory directory;
  MuxHost host({.files_directory = directory.path()});
  MuxHost::Write(host.AddWorker(0, 0).out, "first life, cut sho");
  host.mux().Drain(LaunchId{0});
  MuxHost::Write(host.AddWorker(0, 1, Epoch{2}).out, "second life\n");
  host.mux().Drain(LaunchId{1});
  REQUIRE(host.Flush());
  const std::regex form(
      R"(first life, cut sho\n--- hvdrun: rank 0 started again in epoch 2, )"
      R"(\d{4}-\d\d-\d\dT\S+ ---\nsecond life\n)");
  const std::string text = ReadFile(directory / "rank.0/stdout");
  INFO(text);
  CHECK(std::regex_match(text, form));
}

TEST_CASE("a job begins with empty files", "[launcher]") {
  const TemporaryDirectory directory;
  for (const char* text : {"a long first job\n", "second\n"}) {
    MuxHost host({.files_directory = directory.path()});
    MuxHost::Write(host.AddWorker(0, 0).out, text);
    host.mux().Drain(LaunchId{0});
    REQUIRE(host.Flush());
    CHECK(ReadFile(directory / "rank.0/stdout") == text);
  }
}

TEST_CASE("a worker beyond the expected ones gets files too", "[launcher]") {
  const TemporaryDirectory directory;
  MuxHost host({.files_directory = directory.path(), .expected_workers = 2});
  MuxHost::Write(host.AddWorker(10, 0).out, "new\n");
  host.mux().Drain(LaunchId{0});
  REQUIRE(host.Flush());
  CHECK(ReadFile(directory / "rank.10/stdout") == "new\n");
}

TEST_CASE("an output directory that can't be made is told before any start",
          "[launcher]") {
  const TemporaryDirectory directory;
  const std::string file = directory.Write("file", "");
  EventLoop loop;
  const auto mux =
      OutputMux::Start(loop, {.files_directory = file + "/logs"}, {});
  REQUIRE_FALSE(mux.ok());
  CHECK(mux.error().message() ==
        "output directory " + file + "/logs/rank.0: Not a directory");
}

TEST_CASE("an output file that can't be made is told before any start",
          "[launcher]") {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "rank.0/stdout");
  EventLoop loop;
  const auto mux =
      OutputMux::Start(loop, {.files_directory = directory.path()}, {});
  REQUIRE_FALSE(mux.ok());
  CHECK(mux.error().message() ==
        "output file " + directory.path() + "/rank.0/stdout: Is a directory");
}

TEST_CASE("a full disk costs the file, not the job", "[launcher]") {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "rank.0");
  REQUIRE(::symlink("/dev/full", (directory / "rank.0/stdout").c_str()) == 0);
  MuxHost host({.files_directory = directory.path()});
  auto& worker = host.AddWorker(0, 0);
  MuxHost::Write(worker.out, "hello\n");
  const std::string told = "hvdrun: output file " + directory.path() +
                           "/rank.0/stdout: No space left on device; what "
                           "goes there is lost from here on\n";
  REQUIRE(host.WaitForErr(told));
  MuxHost::Write(worker.out, "again\n");
  CHECK(host.WaitForOut("[0]<stdout>:hello\n[0]<stdout>:again\n"));
  host.RunFor(20ms);
  CHECK(host.err.text() == told);
}

TEST_CASE("files are complete when the mux is gone", "[launcher]") {
  const TemporaryDirectory directory;
  const std::string block(1000, 'x');
  {
    MuxHost host(
        {.mode = OutputMode::kNone, .files_directory = directory.path()});
    auto& worker = host.AddWorker(0, 0);
    for (int i = 0; i < 50; ++i) MuxHost::Write(worker.out, block);
    host.mux().Drain(LaunchId{0});
  }
  CHECK(ReadFile(directory / "rank.0/stdout").size() == 50'000);
}

}  // namespace hvd
