// Agents on hosts with a real ssh and sshd.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "tests/support/lines.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"
#include "tests/testbed/bed.h"

using namespace std::chrono_literals;

namespace hvd::testing {
namespace {

const std::string kAgent = HVD_TEST_AGENT;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// starts_host on host a, as a person at a terminal would run it.
class Starts : public Program {
 public:
  Starts(const Bed& bed, std::vector<std::string> words,
         const std::string& shell_before = ":")
      : Program(bed.On("a", Command(std::move(words), shell_before)),
                {.terminal = true}) {}

  bool Prints(const std::string& text) {
    const bool printed = WaitForOutput(text, 40s);
    if (!printed) UNSCOPED_INFO(out());
    return printed;
  }
  int Count(const std::string& start) const {
    return static_cast<int>(LinesOf(out(), start).size());
  }

 private:
  static std::vector<std::string> Command(std::vector<std::string> words,
                                          const std::string& shell_before) {
    std::vector<std::string> argv = {"sh",
                                     "-c",
                                     shell_before + "; exec \"$@\"",
                                     "sh",
                                     HVD_TEST_STARTS_HOST,
                                     HVD_TEST_KEEPER,
                                     "config=" HVD_TEST_SSH_CONFIG};
    argv.insert(argv.end(), words.begin(), words.end());
    return argv;
  }
};

std::string Out(const Bed& bed, const std::string& host,
                const std::string& script) {
  const ProgramResult result = bed.Run(host, {"sh", "-c", script});
  INFO(result.err);
  CHECK(result.status.ToShell() == 0);
  return result.out;
}

// An installed one has no name but that of its descriptor. The brackets keep
// the pattern from finding itself.
bool NoAgentLeft(const Bed& bed, const std::string& host) {
  return Out(bed, host,
             "for try in $(seq 100); do pgrep -f "
             "'[s]tand_in_agent|^/proc/self/fd/[3]$' >/dev/null || "
             "{ echo none; break; }; sleep 0.05; done") == "none\n";
}

bool AgentRuns(const Bed& bed, const std::string& host) {
  return bed.Run(host, {"pgrep", "-f", "[s]tand_in_agent|^/proc/self/fd/[3]$"})
             .status.ToShell() == 0;
}

}  // namespace

TEST_CASE("an agent starts on each host over one ssh", "[launcher][testbed]") {
  const Bed bed({"3", "--unknown-hosts"});
  Starts starts(bed, {"given=" + kAgent, "chatter=1", "b,root@c"});
  CHECK(starts.Prints("agent b 1.2.3"));
  CHECK(starts.Prints("agent c 1.2.3"));
  CHECK(starts.Prints("ssh b: orders: 12 bytes"));
  CHECK(starts.Prints("nothing missing"));
  // Met for the first time, and known from now on.
  CHECK(Out(bed, "a", "wc -l </root/.ssh/known_hosts") == "2\n");
  CHECK(Out(bed, "b", "pgrep -c -f '[s]shd: root@'") == "1\n");
  starts.Signal(SIGKILL);
  CHECK(NoAgentLeft(bed, "b"));
  CHECK(NoAgentLeft(bed, "c"));
  CHECK(bed.Run("a", {"pgrep", "-x", "ssh"}).out.empty());
}

TEST_CASE("a host may be named by an IPv6 address and a user",
          "[launcher][testbed]") {
  const Bed bed({"2", "--ipv6", "--unknown-hosts"});
  std::string address = Out(bed, "a", "getent ahostsv6 b | cut -d' ' -f1");
  address.resize(address.find('\n'));
  REQUIRE(Contains(address, ":"));
  Starts starts(bed, {"given=" + kAgent, "root@[" + address + "]"});
  CHECK(starts.Prints("agent " + address + " 1.2.3"));
}

TEST_CASE("a refused login asks nobody and names the host",
          "[launcher][testbed]") {
  // Horovod PR#869: it hung on a hidden password prompt.
  const Bed bed({"2"});
  Out(bed, "b",
      "echo PasswordAuthentication yes >/etc/ssh/sshd_config.new;"
      "cat /etc/ssh/sshd_config >>/etc/ssh/sshd_config.new;"
      "mv /etc/ssh/sshd_config.new /etc/ssh/sshd_config;"
      "kill -HUP $(cat /run/sshd.pid)");
  Out(bed, "a", "ssh-keygen -q -t ed25519 -N '' -f /tmp/wrong");
  Starts starts(bed, {"given=" + kAgent, "identity=/tmp/wrong", "b"});
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(starts.Prints("failed host b: authenticate: "));
  CHECK(std::chrono::steady_clock::now() - begin < 15s);
  CHECK(starts.Prints("by hand: ssh "));
  CHECK(Contains(starts.out(), "Permission denied (publickey"));
  CHECK_FALSE(Contains(starts.out(), "'s password:"));
}

TEST_CASE("a name that is not known yet is waited for", "[launcher][testbed]") {
  // mpi-operator #386: the launcher is up before the names resolve.
  const Bed bed({"2"});
  Starts starts(bed, {"given=" + kAgent, "late"});
  REQUIRE(starts.Prints("late (resolve: "));
  Out(bed, "a",
      "cp /etc/hosts /tmp/h; grep -w b /tmp/h | sed 's/b$/late/' >>/tmp/h;"
      "cat /tmp/h >/etc/hosts");
  CHECK(starts.Prints("agent late 1.2.3"));
}

TEST_CASE("an sshd that is not up yet is waited for", "[launcher][testbed]") {
  const Bed bed({"2"});
  Starts starts(bed, {"given=" + kAgent, "port=2222", "b"});
  REQUIRE(starts.Prints("b (connect: Connection refused, try 2)"));
  Out(bed, "b", "/usr/sbin/sshd -p 2222 -o PidFile=none");
  CHECK(starts.Prints("agent b 1.2.3"));
}

TEST_CASE("a sshd that lets few log in at once serves all in the end",
          "[launcher][testbed]") {
  const Bed bed({"2", "--startups", "b=2", "--unknown-hosts"});
  std::string hosts = "n1";
  for (int i = 2; i <= 16; ++i) hosts += ",n" + std::to_string(i);
  Out(bed, "a",
      "ip=$(getent hosts b | cut -d' ' -f1); for i in $(seq 16); do echo "
      "\"$ip n$i\"; done >>/etc/hosts");
  Starts starts(bed, {"given=" + kAgent, "timeout=40000", hosts});
  CHECK(starts.Prints("nothing missing"));
  CHECK(starts.Count("agent n") == 16);
  CHECK(starts.Count("failed ") == 0);
}

TEST_CASE("a changed host key ends its host with one line",
          "[launcher][testbed]") {
  const Bed bed({"3"});
  Out(bed, "a",
      "ssh-keygen -q -t ed25519 -N '' -f /tmp/k;"
      "printf 'b,%s %s\\n' $(getent hosts b | cut -d' ' -f1) \"$(cut -d' ' "
      "-f1,2 /tmp/k.pub)\" >/tmp/known; grep '^c' /root/.ssh/known_hosts "
      ">>/tmp/known; cp /tmp/known /root/.ssh/known_hosts");
  Starts starts(bed, {"given=" + kAgent, "b,c"});
  CHECK(starts.Prints("agent c 1.2.3"));
  CHECK(
      starts.Prints("failed host b: authenticate: its host key is not the "
                    "one that is known (Offending ED25519 key in "
                    "/root/.ssh/known_hosts:1)"));
  CHECK(starts.Prints("ssh-keygen -R b"));
  CHECK(starts.Count("chatter ") == 0);
}

TEST_CASE("the user's own configuration has the first word",
          "[launcher][testbed]") {
  const Bed bed({"2", "--unknown-hosts"});
  Out(bed, "a",
      "printf 'Host bee\\n  HostName b\\n  RemoteCommand date\\n"
      "Host b\\n  StrictHostKeyChecking yes\\n' >/root/.ssh/config");
  Starts strict(bed, {"given=" + kAgent, "b"});
  CHECK(
      strict.Prints("failed host b: authenticate: No ED25519 host key is "
                    "known for b"));
  Starts alias(bed, {"given=" + kAgent, "bee"});
  CHECK(alias.Prints("agent bee 1.2.3"));
}

TEST_CASE("a home that does not exist is no obstacle", "[launcher][testbed]") {
  // mpi-operator #464: a launcher that could not write known_hosts.
  const Bed bed({"2", "--unknown-hosts"});
  Out(bed, "a",
      "cp /root/.ssh/id_ed25519 /tmp/id;"
      "sed -i 's#:/root:#:/nonexistent:#' /etc/passwd");
  Starts starts(bed, {"given=" + kAgent, "identity=/tmp/id", "b"},
                "export HOME=/nonexistent");
  CHECK(starts.Prints("agent b 1.2.3"));
  CHECK(starts.Prints("nothing missing"));
  CHECK(starts.Count("chatter ") == 0);
}

TEST_CASE("whatever the login shell is, the agent starts",
          "[launcher][testbed]") {
  const Bed bed({"2"});
  for (const std::string shell : {"/bin/dash", "/bin/tcsh", "/usr/bin/fish"}) {
    CAPTURE(shell);
    Out(bed, "b",
        "test -x " + shell + " && sed -i 's#^\\(root:.*\\):[^:]*$#\\1:" +
            shell + "#' /etc/passwd");
    Starts given(bed, {"given=" + kAgent, "b"});
    CHECK(given.Prints("agent b 1.2.3"));
    Starts installed(bed, {"install=" + kAgent, "b"});
    CHECK(installed.Prints("agent b 1.2.3"));
  }
  Out(bed, "b", "sed -i 's#:/usr/bin/fish$#:/usr/sbin/nologin#' /etc/passwd");
  Starts refused(bed, {"given=" + kAgent, "b"});
  CHECK(
      refused.Prints("failed host b: agent starts: the login shell there "
                     "ended with exit code 1"));
}

TEST_CASE("a host that has no agent gets one, and keeps nothing",
          "[launcher][testbed]") {
  const Bed bed({"2"});
  const std::string look =
      "ls -A /tmp /root /dev/shm | grep hvdrun; mount -o remount,noexec /tmp";
  {
    Starts starts(bed, {"install=" + kAgent, "b"});
    CHECK(starts.Prints("agent b 1.2.3"));
    CHECK(Out(bed, "b", look).empty());
  }
  {  // /tmp is noexec now: the home will do
    Starts starts(bed, {"install=" + kAgent, "b"});
    CHECK(starts.Prints("agent b 1.2.3"));
    CHECK(Out(bed, "b",
              look + "; mount -o remount,noexec /root;"
                     "mount -o remount,noexec /dev/shm")
              .empty());
  }
  Starts starts(bed, {"install=" + kAgent, "b"});
  CHECK(
      starts.Prints("failed host b: agent starts: no folder there in which a "
                    "program may be run"));
  CHECK(Out(bed, "b", look).empty());
}

TEST_CASE("a host without power in the middle of it all is told in time",
          "[launcher][testbed]") {
  const Bed bed({"2"});
  bed.Cut("b");
  Starts starts(bed, {"given=" + kAgent, "timeout=1500", "b"});
  CHECK(starts.Prints("waiting for hosts: b (connect)"));
  CHECK(starts.Prints("failed host b: connect: nothing came within 1.5 s"));
  CHECK(bed.Run("a", {"pgrep", "-x", "ssh"}).out.empty());
}

TEST_CASE("killing ssh ends the agent there and its host here",
          "[launcher][testbed]") {
  const Bed bed({"2"});
  Starts starts(bed, {"given=" + kAgent, "b"});
  REQUIRE(starts.Prints("agent b 1.2.3"));
  CHECK(AgentRuns(bed, "b"));
  Out(bed, "a", "pkill -KILL -x ssh");
  CHECK(
      starts.Prints("ended host b: agent answers: the connection to its "
                    "agent ended"));
  CHECK(NoAgentLeft(bed, "b"));
}

TEST_CASE("a command with the shape of ssh is enough", "[launcher][testbed]") {
  // Horovod #2621: ssh was the only way.
  const Bed bed({"2"});
  Out(bed, "b", "kill $(cat /run/sshd.pid)");
  const TemporaryDirectory directory;
  const std::string rsh = directory.Write(
      "rsh",
      "#!/bin/sh\nhost=$1; shift\nexec " + BedCommand("host", {}).front() +
          " --bed " + bed.name() + " \"$host\" sh -c \"$*\"\n",
      0755);
  Program starts({HVD_TEST_STARTS_HOST, HVD_TEST_KEEPER, "install=" + kAgent,
                  "shell=" + rsh, "b"},
                 {.terminal = true});
  CHECK(starts.WaitForOutput("agent b 1.2.3"));
  CHECK(AgentRuns(bed, "b"));
  starts.Signal(SIGKILL);
  CHECK(NoAgentLeft(bed, "b"));
}

}  // namespace hvd::testing
