// Jobs on several hosts, over a real ssh.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/e2e/host_job.h"

using namespace std::chrono_literals;

namespace hvd::testing {
namespace {

// What each rank said of itself, in the order of ranks.
std::vector<std::string> Answers(const ProgramResult& result) {
  INFO(result.out << result.err);
  CHECK(result.status.ToShell() == 0);
  std::vector<std::string> lines = Lines(result.out);
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> Ask(const Bed& bed, std::vector<std::string> flags,
                             const std::string& question,
                             ProgramOptions options = {}) {
  flags.insert(flags.end(), {"sh", "-c", "echo " + question});
  return Answers(RunOnHosts(bed, std::move(flags), std::move(options)));
}

}  // namespace

TEST_CASE("Ranks run on the hosts they were given to", "[testbed]") {
  const Bed bed({"3"});
  CHECK(Ask(bed, {"-np", "5", "-H", "a:1,b:2,root@c:2"},
            "$(hostname) $HVD_HOST $HVD_LOCAL_RANK $HOROVOD_CROSS_RANK "
            "$HOROVOD_HOSTNAME $GROUP_RANK") ==
        std::vector<std::string>{
            "[0]<stdout>:a a 0 0 a 0", "[1]<stdout>:b b 0 1 b 1",
            "[2]<stdout>:b b 1 0 b 1", "[3]<stdout>:c c 0 2 c 2",
            "[4]<stdout>:c c 1 1 c 2"});
}

TEST_CASE("One connection a host carries all of its slots", "[testbed]") {
  // Horovod made one for each rank, and sshd's MaxStartups dropped some.
  const Bed bed({"3", "--startups", "b=1"});
  CHECK(Ask(bed, {"-np", "16", "-H", "b:8,c:8"},
            "$(ps -e -o args= | grep -c \"[s]shd: root@notty\")") == [] {
    std::vector<std::string> all;
    for (int rank = 0; rank < 16; ++rank) {
      all.push_back('[' + std::to_string(rank) + "]<stdout>:1");
    }
    std::sort(all.begin(), all.end());
    return all;
  }());
}

TEST_CASE("Every host is told its own interface and address", "[testbed]") {
  // Horovod #2568, #98; NCCL #913: names differ, decoys abound.
  const Bed bed({"3", "--nics", "eth0,ens5", "--docker0", "--dead-network"});
  const auto answers =
      Ask(bed, {"-np", "3", "-H", "a,b,c"},
          "$NCCL_SOCKET_IFNAME $HOROVOD_GLOO_IFACE $HVD_RING_ADDRESS "
          "$MASTER_ADDR $HVD_RENDEZVOUS_ADDR");
  CHECK(answers == std::vector<std::string>{
                       "[0]<stdout>:eth0 eth0 10.77.0.1 10.77.0.1 127.0.0.1",
                       "[1]<stdout>:ens5 ens5 10.77.0.2 10.77.0.1 10.77.0.1",
                       "[2]<stdout>:eth0 eth0 10.77.0.3 10.77.0.1 10.77.0.1"});
}

TEST_CASE("A user's own choice of interface is passed on untouched",
          "[testbed]") {
  const Bed bed({"2"});
  CHECK(Ask(bed, {"-np", "2", "-H", "a,b"},
            "$NCCL_SOCKET_IFNAME $HOROVOD_GLOO_IFACE",
            {.env = {{"NCCL_SOCKET_IFNAME", "^docker"}}}) ==
        std::vector<std::string>{"[0]<stdout>:^docker eth0",
                                 "[1]<stdout>:^docker eth0"});
  const ProgramResult unknown =
      RunOnHosts(bed, {"-np", "2", "-H", "a,b", "true"},
                 {.env = {{"NCCL_SOCKET_IFNAME", "eth7"}}});
  CHECK(Contains(unknown.err, "eth7"));
  CHECK(Contains(unknown.err, "host b"));
}

TEST_CASE("A ring crosses hosts", "[testbed]") {
  const Bed bed({"3"});
  const ProgramResult result = RunOnHosts(
      bed, {"-np", "6", "-H", "a:2,b:2,c:2", Bin("ring"), "--steps", "20"});
  INFO(result.out << result.err);
  CHECK(result.status.ToShell() == 0);
  CHECK(Contains(result.out, "rank=5 size=6 step=20 sum=420 host=c"));
}

TEST_CASE("A ring crosses hosts that have IPv6 only", "[testbed]") {
  const Bed bed({"2", "--ipv6"});
  const ProgramResult result =
      RunOnHosts(bed, {"-np", "4", "-H", "[fd77::1]:2,[fd77::2]:2", Bin("ring"),
                       "--steps", "5"});
  INFO(result.out << result.err);
  CHECK(result.status.ToShell() == 0);
  CHECK(Contains(result.out, "rank=3 size=4 step=5 "));
}

TEST_CASE("A failure on another host is reported as one here", "[testbed]") {
  const Bed bed({"2"});
  const ProgramResult result = RunOnHosts(
      bed, {"-np", "2", "-H", "a,b", "sh", "-c",
            "if [ $HVD_RANK = 1 ]; then echo because >&2; exit 7; fi; "
            "sleep 60"});
  CHECK(result.status.ToShell() == 7);
  CHECK(Contains(result.err, "rank 1 on b"));
  CHECK(Contains(result.err, "  | because"));
  CHECK(LastLine(result.err) ==
        "hvdrun: exit code 7: rank 1 on b exited with code 7");
  const ProgramResult killed =
      RunOnHosts(bed, {"-np", "2", "-H", "a,b", "sh", "-c",
                       "[ $HVD_RANK = 1 ] && kill -9 $$; sleep 60"});
  CHECK(killed.status.ToShell() == 128 + 9);
}

TEST_CASE("A command that only one host lacks is named with the host",
          "[testbed]") {
  const Bed bed({"2"});
  // /tmp is each host's own.
  const ProgramResult result = RunOnHosts(
      bed, {"-np", "2", "-H", "a,b", "sh", "-c", "exec /tmp/no-such-program"});
  CHECK(result.status.ToShell() == 127);
  const ProgramResult direct =
      RunOnHosts(bed, {"-np", "2", "-H", "b:2", "/tmp/no-such-program"});
  CHECK(direct.status.ToShell() == 127);
  CHECK(Count(direct.err,
              "on host b: /tmp/no-such-program: No such file or "
              "directory") == 2);  // the error, and the last line
}

TEST_CASE("A working directory that only this host has is named", "[testbed]") {
  // Horovod #1340.
  const Bed bed({"2"});
  const ProgramResult result =
      bed.Run("a", {"sh", "-c",
                    "mkdir /tmp/onlyhere && cd /tmp/onlyhere && exec " +
                        Bin("hvdrun") + " -np 2 -H a,b true"});
  INFO(result.err);
  CHECK(result.status.ToShell() == 125);
  CHECK(Contains(result.err, "host b"));
  CHECK(Contains(result.err, "/tmp/onlyhere"));
}

TEST_CASE("Words and variables arrive on another host as they are",
          "[testbed]") {
  const Bed bed({"2"});
  const ProgramResult result =
      RunOnHosts(bed,
                 {"-np", "1", "-H", "b", "--output", "raw", "sh", "-c",
                  "printf '%s|' \"$@\"; printf '%s' \"$STRANGE\"", "x", "a b",
                  "it's", "$HOME", "new\nline", ""},
                 {.env = {{"STRANGE", "() { :; }; \"\n"}}});
  CHECK(result.out == "a b|it's|$HOME|new\nline||() { :; }; \"\n");
}

TEST_CASE("No secret of a job is seen by ps on any host", "[testbed]") {
  const Bed bed({"2"});
  const ScopedMark mark;
  HostJob job(bed, {"-np", "2", "-H", "a,b", "sh", "-c",
                    "echo key=$HVD_JOB_KEY; exec sleep 300 # " + mark.text(),
                    mark.text()});
  REQUIRE(job.Prints("[1]<stdout>:key="));
  const std::size_t at = job.out().find("key=") + 4;
  const std::string key = job.out().substr(at, 64);
  REQUIRE(key.size() == 64);
  for (const char* host : {"a", "b"}) {
    const ProgramResult words = bed.Run(host, {"ps", "-e", "-o", "args="});
    CHECK(Contains(words.out, "hvdrun"));
    CHECK_FALSE(Contains(words.out, key));
    CHECK_FALSE(Contains(words.out, "token"));
  }
  job.Signal(SIGTERM);
  CHECK(job.Wait().status.ToShell() == 143);
}

TEST_CASE("The first rank reads hvdrun's stdin wherever it is", "[testbed]") {
  const Bed bed({"3"});
  std::string text;
  for (int line = 0; line < 50'000; ++line) {
    text += std::to_string(line) + '\n';
  }
  const ProgramResult result =
      RunOnHosts(bed, {"-np", "2", "-H", "b,c", "--output", "raw", "cat"},
                 {.stdin_text = text});
  INFO(result.err);
  CHECK(result.status.ToShell() == 0);
  CHECK((result.out == text));
}

TEST_CASE("All that workers on other hosts print arrives, in each one's order",
          "[testbed]") {
  const Bed bed({"3"});
  const ProgramResult result = RunOnHosts(
      bed, {"-np", "4", "-H", "b:2,c:2", "sh", "-c",
            "i=0; while [ $i -lt 5000 ]; do echo $i; i=$((i+1)); done"});
  CHECK(result.status.ToShell() == 0);
  std::map<char, int> next;
  for (const std::string& line : Lines(result.out)) {
    REQUIRE(line == std::string("[") + line[1] +
                        "]<stdout>:" + std::to_string(next[line[1]]++));
  }
  CHECK(next.size() == 4);
  for (const auto& [rank, count] : next) CHECK(count == 5000);
}

TEST_CASE("Signals reach workers on other hosts", "[testbed]") {
  const Bed bed({"2"});
  HostJob job(bed, {"-np", "2", "-H", "a,b", "sh", "-c",
                    "trap 'echo got usr1' USR1; trap 'echo got int; exit 3' "
                    "INT; echo up; while :; do sleep 0.05; done"});
  REQUIRE(job.Prints("[1]<stdout>:up"));
  REQUIRE(job.Prints("[0]<stdout>:up"));
  job.Signal(SIGUSR1);
  CHECK(job.Prints("[1]<stdout>:got usr1"));
  job.Signal(SIGINT);
  CHECK(job.Prints("[1]<stdout>:got int"));
  CHECK(job.Wait().status.ToShell() == 130);
}

TEST_CASE("Two hosts that cannot reach each other are named in a table",
          "[testbed]") {
  // Horovod #1934: in seconds, whatever the start timeout.
  const Bed bed({"3", "--no-route", "b:c"});
  const ProgramResult result = RunOnHosts(
      bed, {"-np", "3", "-H", "a,b,c", "--start-timeout", "60", "true"});
  INFO(result.err);
  CHECK(result.status.ToShell() == 125);
  CHECK(result.took < 20s);
  CHECK(Contains(result.err, "10.77.0.3"));
  CHECK(Contains(result.err, "b"));
  CHECK_FALSE(Contains(result.out, "[0]"));
}

TEST_CASE("The host that is missing is named, not those that wait for it",
          "[testbed]") {
  const Bed bed({"3"});
  bed.Cut("c");
  const ProgramResult result =
      RunOnHosts(bed, {"-H", "a,b,c", "--start-timeout", "3", "true"});
  INFO(result.err);
  CHECK(result.status.ToShell() == 125);
  CHECK(LastLine(result.err).find("exit code 125: host c: connect") !=
        std::string::npos);
  CHECK_FALSE(Contains(result.err, "host b"));
}

TEST_CASE("Two jobs on the same hosts do not touch each other", "[testbed]") {
  const Bed bed({"2"});
  const ScopedMark mark;
  std::vector<std::string> words = {"-np", "2", "-H", "a,b"};
  const std::vector<std::string> idle = Idle(mark);
  words.insert(words.end(), idle.begin(), idle.end());
  HostJob first(bed, words);
  REQUIRE(first.Prints("[1]<stdout>:up"));
  for (int i = 0; i < 3; ++i) {
    const ProgramResult other = RunOnHosts(
        bed, {"-np", "4", "-H", "a:2,b:2", Bin("ring"), "--steps", "3"});
    CHECK(other.status.ToShell() == 0);
  }
  CHECK(first.running());
  CHECK(first.WaitUntil([&] { return IdleWorkers(mark) == 2; }, 20s));
  first.Signal(SIGTERM);
  CHECK(first.Wait().status.ToShell() == 143);
  CHECK(NoneLeft(mark.text(), 5s));
}

TEST_CASE("Nothing of a job is left on any host when it has ended",
          "[testbed]") {
  const Bed bed({"2"});
  const ScopedMark mark;
  const ProgramResult result = RunOnHosts(
      bed,
      {"-np", "2", "-H", "a,b", "--stop-grace-secs", "1", "sh", "-c",
       "setsid sleep 300 & sleep 300 & exit 0 # " + mark.text(), mark.text()});
  CHECK(result.status.ToShell() == 0);
  CHECK(NoneLeft(mark.text(), 5s));
  CHECK(NoneLeft("hvdrun-agent " + bed.name(), 1ms));
  for (const char* host : {"a", "b"}) {
    const ProgramResult left = bed.Run(
        host, {"sh", "-c", "ps -e -o args= | grep -E '[h]vdrun|[s]leep 300'"});
    CHECK(left.out.empty());
  }
}

}  // namespace hvd::testing
