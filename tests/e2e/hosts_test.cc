// Which hosts hvdrun accepts, how slots become ranks, and what it says when it
// refuses.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> kWhoAmI{
    "sh", "-c", "echo $HOROVOD_RANK $HOROVOD_HOSTNAME $HOROVOD_LOCAL_RANK"};

std::vector<std::string> With(std::vector<std::string> words,
                              const std::vector<std::string>& command) {
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// "rank host local_rank" of each worker, in rank order.
std::vector<std::string> WhoIsThere(const ProgramResult& result) {
  INFO(result.err);
  CHECK(result.status.ToShell() == 0);
  std::vector<std::string> who;
  for (const std::string& line : Lines(result.out)) {
    who.push_back(line.substr(line.find(':') + 1));
  }
  std::sort(who.begin(), who.end());
  return who;
}

struct Refusal {
  std::string error;  // the line "hvdrun: error: ..."
  std::string all;
};

// hvdrun with these words before a command must refuse within 2 s, and start
// nothing.
Refusal RefusalOf(std::vector<std::string> words) {
  TemporaryDirectory directory;
  const std::string trace = directory / "started";
  const ProgramResult result = Hvdrun(With(std::move(words), {"touch", trace}));
  INFO(result.out << result.err);
  CHECK(result.status.ToShell() == 125);
  CHECK(result.took < 2s);
  CHECK_FALSE(std::filesystem::exists(trace));
  CHECK(result.out.empty());
  const auto errors = LinesOf(result.err, "hvdrun: error: ");
  REQUIRE(errors.size() == 1);
  return {errors[0], result.err};
}

Refusal HostfileRefusal(const std::string& second_line) {
  TemporaryDirectory directory;
  const std::string path =
      directory.Write("hosts.txt", "localhost slots=1\n" + second_line + "\n");
  Refusal refusal = RefusalOf({"-np", "1", "--hostfile", path});
  CHECK(Contains(refusal.error, "hosts.txt:2:"));
  CHECK(Contains(refusal.error, second_line));
  return refusal;
}

}  // namespace

TEST_CASE("hvdrun takes every way of writing a hostfile line", "[e2e]") {
  // Horovod #1428.
  TemporaryDirectory directory;
  const std::string path = directory.Write(
      "hosts.txt",
      "# all of them\n\nlocalhost slots=1\n127.0.0.2:1   # tail\n127.0.0.3\r\n"
      "\t127.0.0.4   slots=2");
  CHECK(WhoIsThere(Hvdrun(With({"-np", "5", "--hostfile", path}, kWhoAmI))) ==
        std::vector<std::string>{"0 localhost 0", "1 127.0.0.2 0",
                                 "2 127.0.0.3 0", "3 127.0.0.4 0",
                                 "4 127.0.0.4 1"});
}

TEST_CASE("hvdrun names file, line and text of a bad hostfile line", "[e2e]") {
  // DeepSpeed #3669.
  HostfileRefusal("localhost lots=8");
  HostfileRefusal("localhost slots=two");
  HostfileRefusal("localhost slots=-1");
  HostfileRefusal("localhost slots=0");
  HostfileRefusal("localhost slots=99999999999");
}

TEST_CASE("hvdrun names a hostfile that is not there", "[e2e]") {
  const Refusal refusal =
      RefusalOf({"-np", "1", "--hostfile", "/nowhere/hosts.txt"});
  CHECK(Contains(refusal.error, "/nowhere/hosts.txt"));
  CHECK(Contains(refusal.error, "No such file"));
}

TEST_CASE("hvdrun adds up the slots of a host that is named again", "[e2e]") {
  // Open MPI #11136.
  const std::vector<std::string> expected{"0 localhost 0", "1 localhost 1",
                                          "2 localhost 2"};
  CHECK(WhoIsThere(Hvdrun(With(
            {"-np", "3", "-H", "localhost,localhost,localhost"}, kWhoAmI))) ==
        expected);
  TemporaryDirectory directory;
  const std::string path = directory.Write(
      "hosts.txt", "localhost slots=1\nlocalhost slots=1\nlocalhost slots=1\n");
  CHECK(WhoIsThere(Hvdrun(With({"-np", "3", "--hostfile", path}, kWhoAmI))) ==
        expected);
}

TEST_CASE("hvdrun does not judge host names", "[e2e]") {
  // Underscores, dots, dashes: what resolves is right. Horovod #1325.
  if (::geteuid() != 0) {
    WARN("needs root: a hosts file of its own");
    return;
  }
  TemporaryDirectory directory;
  const std::string hosts = directory.Write(
      "hosts",
      "127.0.0.1 localhost\n127.0.0.2 gpu_node-01.rack_2\n127.0.0.9 rack9\n"
      "127.0.0.80 rack80\n127.0.0.10 rack10\n127.0.0.100 rack100\n");
  const auto run = [&](const std::string& np, const std::string& list) {
    return RunProgram(With({"unshare", "-m", "sh", "-c",
                            R"(mount --bind "$0" /etc/hosts && exec "$@")",
                            hosts, Bin("hvdrun"), "-np", np, "-H", list},
                           kWhoAmI));
  };
  CHECK(WhoIsThere(run("2", "gpu_node-01.rack_2:2")) ==
        std::vector<std::string>{"0 gpu_node-01.rack_2 0",
                                 "1 gpu_node-01.rack_2 1"});
  // Ranks in the order listed, never sorted. PyTorch #191190.
  CHECK(WhoIsThere(run("4", "rack9:1,rack80:1,rack10:1,rack100:1")) ==
        std::vector<std::string>{"0 rack9 0", "1 rack80 0", "2 rack10 0",
                                 "3 rack100 0"});
}

TEST_CASE("hvdrun sees a host list that was written with spaces", "[e2e]") {
  // Horovod #2090.
  const ProgramResult result =
      Hvdrun({"-np", "4", "-H", "localhost:2", "127.0.0.2:2", "true"});
  CHECK(result.status.ToShell() != 0);
  CHECK(Contains(result.err, "comma"));
  CHECK(Contains(result.err, "localhost:2,127.0.0.2:2"));
  CHECK(Contains(RefusalOf({"-np", "1", "-H", "localhost:0"}).error,
                 "localhost:0"));
}

TEST_CASE("hvdrun ignores empty items in a host list", "[e2e]") {
  // Volcano #1321: a list made by tr "\n" ",".
  CHECK(WhoIsThere(Hvdrun(
            With({"-np", "2", "-H", "localhost,127.0.0.2,"}, kWhoAmI))) ==
        std::vector<std::string>{"0 localhost 0", "1 127.0.0.2 0"});
}

TEST_CASE("hvdrun gives both numbers and the flag when slots are missing",
          "[e2e]") {
  // Horovod #978.
  const Refusal one = RefusalOf({"-np", "2", "-H", "localhost"});
  CHECK(Contains(one.all, "2 workers"));
  CHECK(Contains(one.all, "1 slot"));
  CHECK(Contains(one.all, "localhost:2"));
  const Refusal two = RefusalOf({"-np", "5", "-H", "localhost:2,127.0.0.2:2"});
  CHECK(Contains(two.all, "5 workers"));
  CHECK(Contains(two.all, "4 slots"));
  CHECK(Contains(RefusalOf({"-np", "0"}).error, "-np"));
  CHECK(Contains(RefusalOf({"-np", "x"}).error, "\"x\""));
}

TEST_CASE("hvdrun starts exactly -np workers when there are more slots",
          "[e2e]") {
  CHECK(WhoIsThere(Hvdrun(With({"-np", "4", "-H", "localhost:8"}, kWhoAmI)))
            .size() == 4);
}

TEST_CASE("hvdrun -np -4 starts four workers here whatever the host flags say",
          "[e2e]") {
  const ProgramResult result =
      Hvdrun(With({"-np", "-4", "-H", "192.0.2.7:2"}, kWhoAmI));
  CHECK(WhoIsThere(result) ==
        std::vector<std::string>{"0 localhost 0", "1 localhost 1",
                                 "2 localhost 2", "3 localhost 3"});
  CHECK(Contains(result.err, "-H"));
}

TEST_CASE("hvdrun runs on IPv6 addresses in brackets", "[e2e]") {
  if (!std::filesystem::exists("/proc/net/if_inet6")) {
    WARN("needs IPv6");
    return;
  }
  CHECK(WhoIsThere(Hvdrun(With({"-np", "2", "-H", "[::1]:2"}, kWhoAmI))) ==
        std::vector<std::string>{"0 ::1 0", "1 ::1 1"});
  const ProgramResult ring =
      Hvdrun({"-np", "3", "-H", "[::1]:1,localhost:2", Bin("ring"), "--steps",
              "3", "--rate", "0"});
  INFO(ring.err);
  CHECK(ring.status.ToShell() == 0);
  CHECK(Contains(RefusalOf({"-np", "1", "-H", "fd77::1"}).all, "bracket"));
}

}  // namespace hvd::testing
