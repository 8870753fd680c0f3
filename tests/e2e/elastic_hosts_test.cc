// Elastic jobs whose hosts come, go and fail.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "tests/e2e/elastic_ring.h"
#include "tests/e2e/host_job.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd::testing {
namespace {

// The list of hosts of a job is a file in a folder that all hosts see.
struct Hosts {
  explicit Hosts(const std::string& list) { Are(list); }
  // At once, as a script would: a list is never half there.
  void Are(const std::string& list) {
    const std::string made = directory.Write("made", list);
    REQUIRE(::rename(made.c_str(), path.c_str()) == 0);
  }

  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/hosts";
};

std::vector<std::string> RingJob(const Hosts& hosts,
                                 std::vector<std::string> flags,
                                 const std::string& steps) {
  std::vector<std::string> words = {"--watch-hosts",     hosts.path,
                                    "--host-timeout",    "2",
                                    "--stop-grace-secs", "1"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"sh", "-c",
                             "echo pid=$$ on=$(hostname); exec " + Bin("ring") +
                                 " --rate 20 --steps " + steps});
  return words;
}

}  // namespace

TEST_CASE("An elastic job gains a host and loses one whose cable is cut",
          "[testbed]") {
  Hosts hosts("a:1\nb:1\n");
  const Bed bed({"3", "--share", hosts.directory.path()});
  HostJob job(bed, RingJob(hosts, {"-np", "2", "--min-np", "1"}, "400"));
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 2, 5); }, 40s));
  hosts.Are("a:1\nb:1\nc:2\n");
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 4, 5); }, 40s));
  bed.Cut("b");
  const bool went_on =
      job.WaitUntil([&] { return HasSteps(job.out(), 3, 5); }, 20s);
  INFO(job.out() << job.err());
  REQUIRE(went_on);
  CHECK(Contains(job.err(), "host b is lost: its agent has been silent"));
  // It is tried again for as long as it is listed, and joins when it is back.
  bed.Mend("b");
  const bool back =
      job.WaitUntil([&] { return HasSteps(job.out(), 4, 15); }, 60s);
  INFO(job.out() << job.err());
  CHECK(back);
  job.Signal(SIGTERM);
  CHECK(job.Wait().status.ToShell() == 143);
}

TEST_CASE("A local elastic job gains its first remote host and loses its own",
          "[testbed]") {
  Hosts hosts("a:2\n");
  const Bed bed({"2", "--docker0", "--share", hosts.directory.path()});
  HostJob job(bed, RingJob(hosts, {"-np", "2", "--min-np", "2"}, "1000"));
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 2, 5); }, 40s));
  hosts.Are("a:2\nb:2\n");
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 4, 5); }, 40s));
  hosts.Are("b:2\n");
  const std::size_t before = StepsAtSize(job.out(), 2).size();
  const bool moved = job.WaitUntil(
      [&] { return StepsAtSize(job.out(), 2).size() > before + 5; }, 40s);
  INFO(job.out() << job.err());
  CHECK(moved);
  job.Signal(SIGTERM);
  CHECK(job.Wait().status.ToShell() == 143);
}

TEST_CASE("Workers of a host that is not listed any more leave in order",
          "[testbed]") {
  Hosts hosts("a:1\nb:2\n");
  const Bed bed({"2", "--share", hosts.directory.path()});
  HostJob job(bed, RingJob(hosts, {"-np", "3", "--min-np", "1"}, "1000"));
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 3, 5); }, 40s));
  hosts.Are("a:1\n");
  const bool went_on =
      job.WaitUntil([&] { return HasSteps(job.out(), 1, 5); }, 40s);
  INFO(job.out() << job.err());
  CHECK(went_on);
  // Nobody was stopped, and nobody was lost.
  CHECK(Contains(job.err(), "is not listed any more"));
  CHECK_FALSE(Contains(job.err(), "killed"));
  CHECK_FALSE(Contains(job.err(), "lost"));
  // Their agent goes when they have.
  CHECK(job.WaitUntil(
      [&] {
        return bed.Run("b", {"pgrep", "-f", "hvdrun-agent"}).out.empty();
      },
      20s));
  job.Signal(SIGTERM);
  CHECK(job.Wait().status.ToShell() == 143);
}

TEST_CASE("A host that is not there yet holds up nobody", "[testbed]") {
  Hosts hosts("a:1\nb:1\n");
  const Bed bed({"2", "--share", hosts.directory.path()});
  bed.Cut("b");
  HostJob job(bed, RingJob(hosts, {"-np", "1", "--min-np", "1"}, "1000"));
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 1, 5); }, 20s));
  bed.Mend("b");
  const bool joined =
      job.WaitUntil([&] { return HasSteps(job.out(), 2, 5); }, 60s);
  INFO(job.out() << job.err());
  CHECK(joined);
  job.Signal(SIGTERM);
  CHECK(job.Wait().status.ToShell() == 143);
}

TEST_CASE("A host whose agent is killed comes back with another", "[testbed]") {
  Hosts hosts("a:1\nb:1\n");
  const Bed bed({"2", "--share", hosts.directory.path()});
  HostJob job(bed, RingJob(hosts, {"-np", "2", "--min-np", "1"}, "1000"));
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 2, 5); }, 40s));
  bed.Run("b", {"pkill", "-9", "hvdrun-agent"});
  REQUIRE(job.WaitUntil([&] { return HasSteps(job.out(), 1, 3); }, 20s));
  const std::size_t before = StepsAtSize(job.out(), 2).size();
  const bool back = job.WaitUntil(
      [&] { return StepsAtSize(job.out(), 2).size() > before + 5; }, 40s);
  INFO(job.out() << job.err());
  CHECK(back);
  job.Signal(SIGTERM);
  CHECK(job.Wait().status.ToShell() == 143);
}

TEST_CASE("Digits trains on three hosts though one is lost and one is gained",
          "[testbed]") {
  Hosts hosts("a:2\nb:2\n");
  const Bed bed({"3", "--share", hosts.directory.path()});
  HostJob job(bed, {"--watch-hosts", hosts.path, "--host-timeout", "2", "-np",
                    "4", "--min-np", "2", Bin("digits"), "--epochs", "60"});
  REQUIRE(job.Prints("epoch=3 "));
  hosts.Are("a:2\nb:2\nc:2\n");
  REQUIRE(job.WaitUntil([&] { return Contains(job.err(), "6 workers"); }, 40s));
  bed.PowerOff("b");
  const ProgramResult result = job.Wait(90s);
  INFO(result.out << result.err);
  CHECK(result.status.ToShell() == 0);
  const std::size_t at = result.out.find("accuracy=");
  REQUIRE(at != std::string::npos);
  CHECK(std::stod(result.out.substr(at + 9)) >= 0.95);
}

}  // namespace hvd::testing
