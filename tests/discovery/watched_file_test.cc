#include "discovery/watched_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/discovery/heard.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace hvd {

using testing::Heard;
using testing::TemporaryDirectory;

namespace {

constexpr Duration kLimit = 20s;

// A watched file "hosts" in a directory of its own.
struct Fixture {
  void Start(Duration gone_grace = 20ms, int slots_per_host = 1) {
    discovery = std::make_unique<WatchedFile>(
        loop, WatchedFile::Options{.path = path,
                                   .slots_per_host = slots_per_host,
                                   .gone_grace = gone_grace});
    discovery->Start(heard.Handlers());
    CHECK(heard.lists.empty());
    CHECK(heard.failures.empty());
  }

  void StartWith(const std::string& text) {
    directory.Write("hosts", text);
    Start();
    REQUIRE(Hears(1, 0));
  }

  void Replace(const std::string& text) {
    fs::rename(directory.Write("hosts.new", text), path);
  }

  bool Hears(std::size_t lists, std::size_t warnings) {
    return loop.RunUntil(
        [&] {
          return heard.lists.size() >= lists &&
                 heard.warnings.size() >= warnings;
        },
        kLimit);
  }

  void Pump(Duration time) {
    CHECK_FALSE(loop.RunUntil([] { return false; }, time));
  }

  // Pumped long enough for all that it has to tell.
  bool Settles(std::size_t lists, std::size_t warnings) {
    Pump(60ms);
    return heard.lists.size() == lists && heard.warnings.size() == warnings &&
           heard.failures.empty();
  }

  const Error& Failure() {
    REQUIRE(loop.RunUntil([&] { return !heard.failures.empty(); }, kLimit));
    CHECK(heard.lists.empty());
    return heard.failures[0];
  }

  TemporaryDirectory directory;
  std::string path = directory / "hosts";
  EventLoop loop;
  Heard heard;
  std::unique_ptr<WatchedFile> discovery;
};

const HostList kA{{"a", 1}};
const HostList kB{{"b", 1}};

}  // namespace

TEST_CASE("WatchedFile tells the hosts of the file at its start",
          "[discovery][process]") {
  Fixture fixture;
  fixture.directory.Write("hosts", "# mine\r\nb:2\na slots=3\n[fd77::1]\nc");
  fixture.Start(20ms, 4);
  REQUIRE(fixture.Hears(1, 0));
  CHECK(fixture.heard.lists[0] ==
        HostList{{"b", 2}, {"a", 3}, {"fd77::1", 4}, {"c", 4}});
}

TEST_CASE("WatchedFile tells a list when the file was written anew",
          "[discovery][process]") {
  Fixture fixture;
  fixture.StartWith("a\n");
  fixture.directory.Write("hosts", "b\n");
  REQUIRE(fixture.Hears(2, 0));
  CHECK(fixture.heard.lists[1] == kB);
}

TEST_CASE("WatchedFile tells a list when a new file was moved to its name",
          "[discovery][process]") {
  Fixture fixture;
  fixture.StartWith("a\n");
  fixture.Replace("b\n");
  REQUIRE(fixture.Hears(2, 0));
  fixture.Replace("");
  REQUIRE(fixture.Hears(3, 0));
  CHECK(fixture.heard.lists == std::vector<HostList>{kA, kB, {}});
  CHECK(fixture.Settles(3, 0));
}

TEST_CASE("WatchedFile tells a change within milliseconds",
          "[discovery][process]") {
  Fixture fixture;
  fixture.StartWith("a\n");
  // The best of several: other programs may keep the machine busy.
  Duration best = kLimit;
  for (std::size_t change = 1; change <= 5; ++change) {
    fixture.Replace("b:" + std::to_string(change) + "\n");
    const Instant begin = fixture.loop.Now();
    REQUIRE(fixture.Hears(change + 1, 0));
    best = std::min(
        best, std::chrono::duration_cast<Duration>(fixture.loop.Now() - begin));
  }
  CHECK(best < 20ms);
}

TEST_CASE("WatchedFile does not tell a list again when nothing in it changed",
          "[discovery][process]") {
  Fixture fixture;
  fixture.StartWith("a\n");
  fixture.directory.Write("hosts", "# the same\na\n");
  CHECK(fixture.Settles(1, 0));
}

TEST_CASE("WatchedFile does not see a file that is being written",
          "[discovery][process]") {
  Fixture fixture;
  fixture.StartWith("a\n");
  std::ofstream writer(fixture.path);
  writer << "b\n" << std::flush;
  CHECK(fixture.Settles(1, 0));
  writer << "c\n";
  writer.close();
  REQUIRE(fixture.Hears(2, 0));
  CHECK(fixture.heard.lists[1] == HostList{{"b", 1}, {"c", 1}});
}

TEST_CASE("WatchedFile warns once when the file is deleted, and keeps its list",
          "[discovery][process]") {
  Fixture fixture;
  fixture.StartWith("a\n");
  fs::remove(fixture.path);
  REQUIRE(fixture.Hears(1, 1));
  CHECK(fixture.heard.warnings[0] ==
        "hostfile " + fixture.path +
            ": No such file or directory; the last list of hosts stays");
  CHECK(fixture.Settles(1, 1));
  fixture.directory.Write("hosts", "b\n");
  REQUIRE(fixture.Hears(2, 2));
  CHECK(fixture.heard.warnings[1] ==
        "hostfile " + fixture.path + " works again");
  CHECK(fixture.heard.lists[1] == kB);
}

TEST_CASE(
    "WatchedFile does not warn when an editor moves the file away and "
    "writes it anew",
    "[discovery][process]") {
  Fixture fixture;
  fixture.directory.Write("hosts", "a\n");
  fixture.Start(1h);
  REQUIRE(fixture.Hears(1, 0));
  fs::rename(fixture.path, fixture.path + '~');
  CHECK(fixture.Settles(1, 0));
  std::ofstream writer(fixture.path);
  CHECK(fixture.Settles(1, 0));
  writer << "b\n";
  writer.close();
  REQUIRE(fixture.Hears(2, 0));
  CHECK(fixture.heard.lists[1] == kB);
  CHECK(fixture.heard.warnings.empty());
}

TEST_CASE(
    "WatchedFile takes no empty list from a file that is written for "
    "longer than the grace after a deletion",
    "[discovery][process]") {
  Fixture fixture;
  fixture.directory.Write("hosts", "a\n");
  fixture.Start(100ms);
  REQUIRE(fixture.Hears(1, 0));
  fs::remove(fixture.path);
  fixture.Pump(20ms);
  std::ofstream writer(fixture.path);
  fixture.Pump(200ms);
  CHECK(fixture.heard.lists.size() == 1);
  writer << "b\n";
  writer.close();
  REQUIRE(fixture.Hears(2, 0));
  CHECK(fixture.heard.lists[1] == kB);
}

TEST_CASE("WatchedFile keeps its list when a line is bad, and warns once",
          "[discovery][process]") {
  Fixture fixture;
  fixture.StartWith("a\n");
  fixture.Replace("b:x\n");
  REQUIRE(fixture.Hears(1, 1));
  CHECK(fixture.heard.warnings[0] ==
        "hostfile " + fixture.path +
            ":1: slots must be 1 or more, got \"x\": \"b:x\"; the last list of "
            "hosts stays");
  fixture.Replace("b:y\n");
  CHECK(fixture.Settles(1, 1));
  fixture.Replace("a\n");
  REQUIRE(fixture.Hears(1, 2));
  CHECK(fixture.heard.warnings[1].ends_with(" works again"));
  CHECK(fixture.Settles(1, 2));
}

TEST_CASE(
    "WatchedFile fails when the file cannot be had at the start, and is "
    "silent then",
    "[discovery][process]") {
  Fixture fixture;
  SECTION("there is none") {
    fixture.Start();
    CHECK(fixture.Failure().message() ==
          "hostfile " + fixture.path + ": No such file or directory");
    fixture.directory.Write("hosts", "a\n");
  }
  SECTION("its directory is not there") {
    fixture.path = fixture.directory / "no/hosts";
    fixture.Start();
    CHECK(fixture.Failure().message() ==
          "hostfile " + fixture.path + ": No such file or directory");
  }
  SECTION("a line is bad") {
    fixture.directory.Write("hosts", "a\nb slots=0\n");
    fixture.Start();
    CHECK(fixture.Failure().message() ==
          "hostfile " + fixture.path +
              ":2: slots must be 1 or more, got \"0\": \"b slots=0\"");
    fixture.directory.Write("hosts", "a\n");
  }
  SECTION("it is a named pipe, which would block") {
    REQUIRE(::mkfifo(fixture.path.c_str(), 0600) == 0);
    fixture.Start();
    CHECK(fixture.Failure().message() ==
          "hostfile " + fixture.path + ": not a regular file");
  }
  fixture.Pump(30ms);
  CHECK(fixture.heard.failures.size() == 1);
  CHECK(fixture.heard.lists.empty());
}

TEST_CASE(
    "WatchedFile follows a symbolic link whose target is replaced with "
    "its directory",
    "[discovery][process]") {
  // As Kubernetes mounts a ConfigMap: hosts -> data/hosts, data -> a version.
  Fixture fixture;
  fs::create_directory(fixture.directory / "version1");
  fs::create_directory(fixture.directory / "version2");
  fixture.directory.Write("version1/hosts", "a\n");
  fixture.directory.Write("version2/hosts", "b\n");
  fs::create_symlink("version1", fixture.directory / "data");
  fs::create_symlink("data/hosts", fixture.path);
  fixture.Start();
  REQUIRE(fixture.Hears(1, 0));
  fs::create_symlink("version2", fixture.directory / "data_new");
  fs::rename(fixture.directory / "data_new", fixture.directory / "data");
  fs::remove_all(fixture.directory / "version1");
  REQUIRE(fixture.Hears(2, 0));
  CHECK(fixture.heard.lists[1] == kB);
  fixture.directory.Write("version2/hosts", "a\n");
  REQUIRE(fixture.Hears(3, 0));
  CHECK(fixture.heard.warnings.empty());
}

TEST_CASE("WatchedFile sees a target that is deleted and written again",
          "[discovery][process]") {
  Fixture fixture;
  fs::create_directory(fixture.directory / "etc");
  const std::string target = fixture.directory.Write("etc/hosts", "a\n");
  fs::create_symlink(target, fixture.path);
  fixture.Start();
  REQUIRE(fixture.Hears(1, 0));
  fs::remove(target);
  REQUIRE(fixture.Hears(1, 1));
  fixture.directory.Write("etc/hosts", "b\n");
  REQUIRE(fixture.Hears(2, 2));
  CHECK(fixture.heard.lists[1] == kB);
}

TEST_CASE("WatchedFile sees a link that is made where a file was",
          "[discovery][process]") {
  Fixture fixture;
  fixture.StartWith("a\n");
  const std::string other = fixture.directory.Write("other", "b\n");
  fs::remove(fixture.path);
  SECTION("symbolic") { fs::create_symlink(other, fixture.path); }
  SECTION("hard") { fs::create_hard_link(other, fixture.path); }
  REQUIRE(fixture.Hears(2, 0));
  CHECK(fixture.heard.lists[1] == kB);
  CHECK(fixture.Settles(2, 0));
}

TEST_CASE("WatchedFile warns when its directory is gone",
          "[discovery][process]") {
  Fixture fixture;
  fs::create_directory(fixture.directory / "etc");
  fixture.path = fixture.directory.Write("etc/hosts", "a\n");
  fixture.Start();
  REQUIRE(fixture.Hears(1, 0));
  SECTION("deleted") { fs::remove_all(fixture.directory / "etc"); }
  SECTION("moved") {
    fs::rename(fixture.directory / "etc", fixture.directory / "old");
  }
  REQUIRE(fixture.Hears(1, 1));
  CHECK(fixture.heard.warnings[0] ==
        "hostfile " + fixture.path +
            ": its directory is gone, changes are not seen any more; the last "
            "list of hosts stays");
  CHECK(fixture.Settles(1, 1));
}

TEST_CASE("WatchedFile may be destroyed by its own handler",
          "[discovery][process]") {
  Fixture fixture;
  int lists = 0;
  fixture.directory.Write("hosts", "a\n");
  fixture.discovery = std::make_unique<WatchedFile>(
      fixture.loop, WatchedFile::Options{.path = fixture.path});
  fixture.discovery->Start({.on_hosts = [&](const HostList&) {
    if (++lists == 2) fixture.discovery.reset();
  }});
  REQUIRE(fixture.loop.RunUntil([&] { return lists == 1; }, kLimit));
  fixture.Replace("b\n");
  CHECK(fixture.loop.RunUntil([&] { return lists == 2; }, kLimit));
  fixture.Replace("c\n");
  CHECK_FALSE(fixture.loop.RunUntil([&] { return lists == 3; }, 20ms));
}

TEST_CASE("WatchedFile is silent once destroyed", "[discovery][process]") {
  Fixture fixture;
  fixture.directory.Write("hosts", "a\n");
  fixture.Start();
  fixture.discovery.reset();
  CHECK(fixture.Settles(0, 0));
}

TEST_CASE("DirectoryOf is the part before the last slash",
          "[discovery][process]") {
  CHECK(DirectoryOf("hosts") == ".");
  CHECK(DirectoryOf("etc/hosts") == "etc");
  CHECK(DirectoryOf("/hosts") == "/");
  CHECK(DirectoryOf("/etc/a/hosts") == "/etc/a");
}

}  // namespace hvd
