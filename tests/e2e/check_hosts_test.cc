// hvdrun --check-hosts, over a real ssh, on hosts that are well and on some
// that are not.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <regex>
#include <string>

#include "tests/e2e/host_job.h"

using namespace std::chrono_literals;

namespace hvd::testing {
namespace {

ProgramResult CheckHosts(const Bed& bed, std::vector<std::string> words) {
  words.insert(words.begin(), "--check-hosts");
  ProgramResult result = RunOnHosts(bed, std::move(words));
  UNSCOPED_INFO(result.out << result.err);
  return result;
}

bool Matches(const std::string& text, const std::string& line) {
  return std::regex_search(text, std::regex("\n" + line + "\n"));
}

// Nothing of ours runs on any of these hosts.
void CheckNothingRuns(const Bed& bed, const std::vector<std::string>& hosts) {
  CHECK(NoneLeft("hvdrun-agent " + bed.name(), 1ms));
  for (const std::string& host : hosts) {
    INFO("host " << host);
    const ProgramResult left =
        bed.Run(host, {"sh", "-c", "ps -e -o args= | grep '[h]vdrun'"});
    CHECK(left.out.empty());
  }
}

}  // namespace

TEST_CASE("A check of good hosts shows who reaches whom and how fast",
          "[testbed]") {
  const Bed bed({"3", "--docker0", "--dead-network"});
  const ProgramResult result = CheckHosts(bed, {"-H", "a,b:2,c"});
  CHECK(result.status.ToShell() == 0);
  CHECK_FALSE(Contains(result.err, "exit code"));
  const std::string& out = result.out;
  CHECK(Contains(out, ": 3 hosts, 4 slots\n"));
  CHECK(Matches(out, R"(  1  a     1      10\.77\.0\.1  eth0  .*)"));
  CHECK(Matches(out, R"(  2  b     2      10\.77\.0\.2  eth0       \S+  .*)"
                     R"([+-]\d+\.\d\d ms \+-\d+\.\d\d ms  b  .* Linux .*)"));
  CHECK(Contains(out,
                 "\n  #  host  1  2  3\n  1  a     -  +  +\n  2  b     +  "
                 "-  +\n  3  c     +  +  -\n"));
  for (const char* pair : {"a     b", "b     c", "c     a"}) {
    CHECK(Matches(out, "  " + std::string(pair) +
                           R"(   \d+\.\d{3} ms  \d+\.\d{3} ms  \S+ .bit/s)"));
  }
  CHECK(LastLine(out) == "all hosts can be used");
  CheckNothingRuns(bed, {"a", "b", "c"});
}

TEST_CASE("A check of hosts that have IPv6 only works as any", "[testbed]") {
  const Bed bed({"2", "--ipv6"});
  const ProgramResult result =
      CheckHosts(bed, {"-H", "[fd77::1]:2,[fd77::2]:2"});
  CHECK(result.status.ToShell() == 0);
  CHECK(Matches(result.out, R"(  fd77::2  fd77::1  .* .bit/s)"));
}

TEST_CASE("A check names a host that one other cannot reach", "[testbed]") {
  const Bed bed({"3", "--no-route", "b:c"});
  const ProgramResult result =
      CheckHosts(bed, {"-H", "a,b,c", "--start-timeout", "60"});
  CHECK(result.status.ToShell() == 125);
  CHECK(result.took < 20s);
  CHECK(Contains(result.out, "\n  2  b     +  -  x\n"));
  CHECK(Contains(result.out, "\n  b     c   10.77.0.3  No route to host\n"));
  CHECK(Contains(result.out,
                 "\ncannot be used: c: interface proof: host b cannot reach "
                 "host c at 10.77.0.3: No route to host\n"));
  // The two others are measured all the same.
  CHECK(Matches(result.out, R"(  b     a   .* .bit/s)"));
  CHECK(LastLine(result.err) == "hvdrun: exit code 125: host c cannot be used");
  CheckNothingRuns(bed, {"a", "b", "c"});
}

TEST_CASE("A check names the slow one of several hosts", "[testbed]") {
  const Bed bed({"4", "--slow", "c=20mbit"});
  const ProgramResult result = CheckHosts(bed, {"-H", "a,b,c,d"});
  CHECK(result.status.ToShell() == 0);
  CHECK(Matches(result.out, R"(slow: host c, [12]\d\.\d Mbit/s from b and )"
                            R"([12]\d\.\d Mbit/s to d; .* is usual here)"));
}

TEST_CASE("A check names each host that is missing, and what to do",
          "[testbed]") {
  const Bed bed({"3"});
  bed.Cut("c");
  const ProgramResult result = CheckHosts(
      bed,
      {"-H", "a,b,c", "--agent-path", "/no/agent", "--start-timeout", "3"});
  CHECK(result.status.ToShell() == 125);
  CHECK(Contains(result.out,
                 "\ncannot be used: b: agent starts: there is no "
                 "hvdrun-agent at /no/agent "));
  CHECK(Contains(result.out, "--install-agent"));
  CHECK(Contains(result.out, "\ncannot be used: c: connect: "));
  CHECK(LastLine(result.err) ==
        "hvdrun: exit code 125: 2 of 3 hosts cannot be used: b, c");
}

TEST_CASE("A check that is interrupted leaves nothing behind", "[testbed]") {
  const Bed bed({"3"});
  bed.Cut("c");
  HostJob check(bed, {"--check-hosts", "-H", "a,b,c", "--verbose"});
  // b's agent runs by then, or is about to.
  REQUIRE(check.WaitUntil(
      [&] { return Contains(check.err(), "waiting for hosts: c"); }, 30s));
  check.Signal(SIGINT);
  const ProgramResult result = check.Wait();
  CHECK(result.status.ToShell() == 130);
  CHECK(LastLine(result.err) == "hvdrun: exit code 130: hvdrun got SIGINT");
  CHECK(check.WaitUntil(
      [&] {
        return bed.Run("b", {"sh", "-c", "ps -e -o args= | grep '[h]vdrun'"})
            .out.empty();
      },
      5s));
}

TEST_CASE(
    "A check takes its hosts from a discovery script and its ports from "
    "the range",
    "[testbed]") {
  const Bed bed({"2"});
  const ProgramResult result =
      CheckHosts(bed, {"--host-discovery-script", "echo a:2; echo b:2",
                       "--port-range", "23000-23007"});
  CHECK(result.status.ToShell() == 0);
  CHECK(Contains(result.out, ": 2 hosts, 4 slots\n"));
  CHECK(LastLine(result.out) == "all hosts can be used");
}

}  // namespace hvd::testing
