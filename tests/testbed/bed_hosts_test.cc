// What a host of a bed is: a machine with sshd, of which some things are its
// own and some are everybody's.
#include <signal.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/support/lines.h"
#include "tests/support/temporary_directory.h"
#include "tests/testbed/bed.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> kHosts{"a", "b", "c", "d"};

std::string Out(const Bed& bed, const std::string& host,
                const std::string& script) {
  const ProgramResult result = bed.Run(host, {"sh", "-c", script});
  INFO(host << ": " << script << '\n' << result.err);
  CHECK(result.status.ToShell() == 0);
  return result.out;
}

// The answers of all hosts.
std::vector<std::string> OutOfAll(const Bed& bed, const std::string& script) {
  std::vector<std::string> out;
  for (const std::string& host : kHosts) out.push_back(Out(bed, host, script));
  return out;
}

bool AllDiffer(const std::vector<std::string>& texts) {
  return std::set<std::string>(texts.begin(), texts.end()).size() ==
         texts.size();
}

}  // namespace

TEST_CASE("Every host of a bed reaches every other over ssh by its name",
          "[testbed]") {
  const Bed bed({"4", "--home", "all"});
  for (const std::string& answer :
       OutOfAll(bed,
                "for host in a b c d; do"
                "  ssh -o BatchMode=yes $host hostname || exit; done")) {
    CHECK(Lines(answer) == kHosts);
  }
}

TEST_CASE(
    "The key of a bed's user lies where hvdrun is to run and nowhere else",
    "[testbed]") {
  const Bed bed({"4"});
  CHECK(Out(bed, "a", "ssh -o BatchMode=yes b hostname") == "b\n");
  const ProgramResult refused =
      bed.Run("b", {"ssh", "-o", "BatchMode=yes", "-o",
                    "StrictHostKeyChecking=accept-new", "a", "hostname"});
  CHECK(refused.status.ToShell() == 255);
  CHECK(refused.err.find("Permission denied (publickey)") != std::string::npos);
}

TEST_CASE("A host of a bed has a name, an address and an identity of its own",
          "[testbed]") {
  const Bed bed({"4"});
  CHECK(OutOfAll(bed, "hostname") ==
        std::vector<std::string>{"a\n", "b\n", "c\n", "d\n"});
  CHECK(OutOfAll(bed, "getent hosts a | cut -d' ' -f1; hostname -I") ==
        std::vector<std::string>{
            "10.77.0.1\n10.77.0.1 \n", "10.77.0.1\n10.77.0.2 \n",
            "10.77.0.1\n10.77.0.3 \n", "10.77.0.1\n10.77.0.4 \n"});
  CHECK(AllDiffer(OutOfAll(bed, "cat /proc/sys/kernel/random/boot_id")));
  CHECK(AllDiffer(OutOfAll(bed, "cat /etc/machine-id")));
  CHECK(AllDiffer(OutOfAll(bed, "cat /etc/ssh/ssh_host_ed25519_key.pub")));
}

TEST_CASE("A host of a bed has private files beside the shared tree",
          "[testbed]") {
  const Bed bed({"4"});
  CHECK(Out(bed, "b", "ls -A /root/.ssh") == "authorized_keys\n");
  for (const std::string directory :
       {"/root", "/tmp", "/run", "/dev/shm", "/etc", "/etc/ssh"}) {
    const std::string path = directory + '/' + bed.name();
    Out(bed, "a", "touch " + path);
    CHECK(Out(bed, "a", "ls " + path) == path + '\n');
    CHECK(bed.Run("b", {"test", "-e", path}).status.ToShell() == 1);
    CHECK(RunProgram({"test", "-e", path}).status.ToShell() == 1);
  }
  const std::string shared =
      std::string(HVD_TESTBED_BUILD_DIR) + "/" + bed.name();
  Out(bed, "a", "echo from a > " + shared);
  CHECK(Out(bed, "b", "cat " + shared) == "from a\n");
  CHECK(ReadFile(shared) == "from a\n");
  RunProgram({"rm", shared});
}

TEST_CASE("A host of a bed sees its own processes only", "[testbed]") {
  const Bed bed({"4"});
  const ScopedMark mark;
  Program there(
      bed.On("b", {"sh", "-c", "echo there; exec sleep 1000", mark.text()}));
  REQUIRE(there.WaitForOutput("there"));
  const std::string look = "pgrep -x sleep | wc -l";
  CHECK(Out(bed, "b", look) == "1\n");
  CHECK(Out(bed, "a", look) == "0\n");
}

TEST_CASE("A command on a host of a bed ends as it would here", "[testbed]") {
  const Bed bed({"1"});
  CHECK(bed.Run("a", {"sh", "-c", "exit 3"}).status.code == 3);
  CHECK(bed.Run("a", {"sh", "-c", "kill -TERM $$"}).status.signal == SIGTERM);
  CHECK(bed.Run("a", {"/nowhere"}).status.ToShell() == 127);
  CHECK(bed.Run("a", {"/etc/passwd"}).status.ToShell() == 126);
  ProgramOptions options;
  options.stdin_text = "through and through";
  options.env.emplace_back("GIVEN", "yes");
  const ProgramResult cat =
      bed.Run("a", {"sh", "-c", "cat; echo -n $GIVEN >&2"}, options);
  CHECK(cat.out == "through and through");
  CHECK(cat.err == "yes");
}

TEST_CASE("A command on a host of a bed gets the signals that are sent to it",
          "[testbed]") {
  const Bed bed({"1"});
  const std::string script =
      "trap 'echo int; exit 5' INT; echo ready; while :; do sleep 0.05; done";
  const ScopedMark mark;
  Program asked(bed.On("a", {"bash", "-c", script, mark.text()}));
  REQUIRE(asked.WaitForOutput("ready"));
  asked.Signal(SIGINT);
  CHECK(asked.Wait().status.code == 5);
  CHECK(asked.out() == "ready\nint\n");

  Program killed(bed.On("a", {"bash", "-c", script, mark.text()}));
  REQUIRE(killed.WaitForOutput("ready"));
  killed.Signal(SIGKILL);
  CHECK(killed.Wait().status.signal == SIGKILL);
  CHECK(NoneLeft(mark.text(), 5s));
}

}  // namespace hvd::testing
