// Each trap of a bed does what it says, and leaves the rest as it was.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "tests/support/lines.h"
#include "tests/testbed/bed.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

// A script on a host, which must succeed.
std::string Out(const Bed& bed, const std::string& host,
                const std::string& script) {
  const ProgramResult result = bed.Run(host, {"bash", "-c", script});
  INFO(host << ": " << script << '\n' << result.err);
  CHECK(result.status.ToShell() == 0);
  return result.out;
}

ProgramResult Ssh(const Bed& bed, const std::string& from,
                  const std::string& to, const std::string& command,
                  const std::string& option = "BatchMode=yes") {
  return bed.Run(from, {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=2",
                        "-o", option, to, command});
}

bool Reaches(const Bed& bed, const std::string& from, const std::string& to) {
  return Ssh(bed, from, to, "hostname").out == to + '\n';
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("A bed can have a docker0 with one address on every host",
          "[testbed]") {
  const Bed bed({"2", "--docker0"});
  for (const std::string host : {"a", "b"}) {
    CHECK(Contains(Out(bed, host, "ip -br addr show docker0"),
                   " 172.17.0.1/16 "));
    CHECK(Out(bed, host, "cat /sys/class/net/docker0/carrier") == "1\n");
  }
  CHECK(Reaches(bed, "a", "b"));
}

TEST_CASE("A bed can have a first network that reaches nobody", "[testbed]") {
  const Bed bed({"2", "--dead-network"});
  CHECK(Out(bed, "a", "ip -o link | cut -d: -f2 | cut -d@ -f1 | tr -d '\\n'") ==
        " lo ib0 eth0");
  CHECK(Out(bed, "b", "hostname -I") == "10.99.0.2 10.77.0.2 \n");
  CHECK(Out(bed, "a", "cat /sys/class/net/ib0/carrier") == "1\n");
  const ProgramResult dead = Ssh(bed, "a", "10.99.0.2", "hostname");
  CHECK(dead.status.ToShell() == 255);
  CHECK(Contains(dead.err, "timed out"));
  CHECK(Reaches(bed, "a", "b"));
}

TEST_CASE("The hosts of a bed can name their NICs differently", "[testbed]") {
  const Bed bed({"3", "--nics", "eth0,ens5"});
  CHECK(Contains(Out(bed, "a", "ip -br addr show eth0"), " 10.77.0.1/16 "));
  CHECK(Contains(Out(bed, "b", "ip -br addr show ens5"), " 10.77.0.2/16 "));
  CHECK(Contains(Out(bed, "c", "ip -br addr show eth0"), " 10.77.0.3/16 "));
  CHECK(Reaches(bed, "a", "b"));
}

TEST_CASE("A bed can be one of IPv6 only", "[testbed]") {
  const Bed bed({"2", "--ipv6"});
  CHECK(Out(bed, "a", "hostname -I") == "fd77::1 \n");
  CHECK(Out(bed, "a", "getent ahosts b | cut -d' ' -f1 | sort -u") ==
        "fd77::2\n");
  CHECK(Reaches(bed, "a", "b"));
}

TEST_CASE("A host of a bed can have no route to one other", "[testbed]") {
  const Bed bed({"3", "--home", "all", "--no-route", "b:c"});
  const ProgramResult none = Ssh(bed, "b", "c", "hostname");
  CHECK(none.status.ToShell() == 255);
  CHECK(Contains(none.err, "No route to host"));
  CHECK(Contains(Ssh(bed, "c", "b", "hostname").err, "timed out"));
  CHECK(Reaches(bed, "a", "b"));
  CHECK(Reaches(bed, "a", "c"));
  CHECK(Reaches(bed, "b", "a"));
}

TEST_CASE("A host of a bed can be slow", "[testbed]") {
  const Bed bed({"3", "--slow", "b=1mbit"});
  // 200 kB are 1.6 s at that rate.
  const std::string send = "head -c 200000 /dev/zero";
  const ProgramResult from_slow = Ssh(bed, "a", "b", send);
  const ProgramResult from_other = Ssh(bed, "a", "c", send);
  CHECK(from_slow.out.size() == 200000);
  CHECK(from_other.out.size() == 200000);
  CHECK(from_slow.took > 1400ms);
  CHECK(from_other.took < from_slow.took);
  const ProgramResult to_slow =
      bed.Run("a", {"sh", "-c", send + " | ssh -o BatchMode=yes b 'wc -c'"});
  CHECK(to_slow.out == "200000\n");
  CHECK(to_slow.took > 1400ms);
}

TEST_CASE("A host of a bed can allow few startups of ssh", "[testbed]") {
  const Bed bed({"3", "--startups", "b=1"});
  CHECK(Reaches(bed, "a", "b"));
  // Somebody who is about to log in, at each of the two.
  Program waiting(bed.On(
      "a",
      {"bash", "-c",
       "for host in b c; do exec {door}<>/dev/tcp/$host/22 &&"
       " read -r line <&$door; echo $line; done; echo waiting; sleep 100"}));
  REQUIRE(waiting.WaitForOutput("waiting"));
  CHECK(Lines(waiting.out()).size() == 3);
  const ProgramResult refused = Ssh(bed, "a", "b", "hostname");
  CHECK(refused.status.ToShell() == 255);
  CHECK(Contains(refused.err, "kex_exchange_identification"));
  CHECK(Reaches(bed, "a", "c"));
}

TEST_CASE("A host of a bed can know itself as a loopback address",
          "[testbed]") {
  const Bed bed({"2", "--loopback-name"});
  CHECK(Out(bed, "b", "getent hosts b | cut -d' ' -f1") == "127.0.1.1\n");
  CHECK(Out(bed, "a", "getent hosts b | cut -d' ' -f1") == "10.77.0.2\n");
  CHECK(Reaches(bed, "a", "b"));
}

TEST_CASE("The hosts of a bed can be unknown to ssh", "[testbed]") {
  const Bed bed({"2", "--unknown-hosts"});
  const ProgramResult refused = Ssh(bed, "a", "b", "hostname");
  CHECK(refused.status.ToShell() == 255);
  CHECK(Contains(refused.err, "Host key verification failed"));
  CHECK(
      Ssh(bed, "a", "b", "hostname", "StrictHostKeyChecking=accept-new").out ==
      "b\n");
}

}  // namespace hvd::testing
