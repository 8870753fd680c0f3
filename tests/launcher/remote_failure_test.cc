#include "launcher/remote_failure.h"

#include <catch2/catch.hpp>

namespace hvd {
namespace {

using enum StartPhase;
using enum Again;

const AgentPlace kPlace{AgentPlace::Kind::kGiven, "/opt/agent"};

RemoteFailure Ssh(std::vector<std::string> said, int code = 255,
                  Reached reached = Reached::kNothing) {
  return JudgeRemoteEnd(
      {.reached = reached, .status = {code, 0}, .said = std::move(said)},
      kPlace, "b");
}

struct Case {
  const char* line;
  StartPhase phase;
  Again again;
  const char* reason;
};

}  // namespace

TEST_CASE("every message of ssh has its phase, and a verdict on trying again",
          "[launcher]") {
  const Case cases[] = {
      {"ssh: Could not resolve hostname b: Name or service not known", kResolve,
       kWorthIt, "Name or service not known"},
      {"ssh: Could not resolve hostname b: Temporary failure in name "
       "resolution",
       kResolve, kWorthIt, "Temporary failure in name resolution"},
      {"hostname contains invalid characters", kResolve, kHopeless,
       "hostname contains invalid characters"},
      {"ssh: connect to host b port 22: Connection refused", kConnect, kWorthIt,
       "Connection refused"},
      {"ssh: connect to host b port 22: Connection timed out", kConnect,
       kWorthIt, "Connection timed out"},
      {"ssh: connect to host 10.77.0.9 port 22: No route to host", kConnect,
       kWorthIt, "No route to host"},
      {"Connection timed out during banner exchange", kConnect, kWorthIt,
       "Connection timed out during banner exchange"},
      {"Connection to 10.77.0.2 port 22 timed out", kConnect, kWorthIt,
       "Connection to 10.77.0.2 port 22 timed out"},
      // MaxStartups, in the words of 7, 8 and 9.
      {"ssh_exchange_identification: Connection closed by remote host",
       kConnect, kWorthIt, "Connection closed by remote host"},
      {"kex_exchange_identification: read: Connection reset by peer", kConnect,
       kWorthIt, "Connection reset by peer"},
      {"kex_exchange_identification: Connection closed by remote host",
       kConnect, kWorthIt, "Connection closed by remote host"},
      {"Connection reset by 10.77.0.2 port 22", kConnect, kWorthIt,
       "Connection reset by 10.77.0.2 port 22"},
      {"Connection closed by 10.77.0.2 port 22", kConnect, kWorthIt,
       "Connection closed by 10.77.0.2 port 22"},
      {"Unable to negotiate with 10.77.0.2 port 22: no matching host key type "
       "found. Their offer: ssh-dss",
       kConnect, kHopeless, "ssh-dss"},
      {"Permission denied (publickey,password).", kAuthenticate, kHopeless,
       "Permission denied (publickey,password)"},
      {"root@b: Permission denied (publickey).", kAuthenticate, kHopeless,
       "Permission denied (publickey)"},
      {"Received disconnect from 10.77.0.2 port 22:2: Too many authentication "
       "failures",
       kAuthenticate, kHopeless, "Too many authentication failures"},
      {"No ED25519 host key is known for b and you have requested strict "
       "checking.",
       kAuthenticate, kHopeless,
       "No ED25519 host key is known for b and you have requested strict "
       "checking"},
      {"Host key verification failed.", kAuthenticate, kHopeless,
       "Host key verification failed"},
      {"command-line: line 0: Bad configuration option: nonsense", kResolve,
       kHopeless, "nonsense"},
      {"exec request failed on channel 0", kAgentStarts, kHopeless,
       "exec request failed on channel 0"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.line);
    const RemoteFailure failure = Ssh({"a banner", c.line});
    CHECK(failure.phase == c.phase);
    CHECK(failure.again == c.again);
    CHECK(failure.reason == c.reason);
    CHECK(failure.text == c.line);
    CHECK(failure.explained);
  }
}

TEST_CASE("a changed host key says where the old one is", "[launcher]") {
  const RemoteFailure failure =
      Ssh({"@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @",
           "Offending ED25519 key in /root/.ssh/known_hosts:2",
           "Host key verification failed."});
  CHECK(failure.phase == kAuthenticate);
  CHECK(failure.again == kHopeless);
  CHECK(failure.text ==
        "its host key is not the one that is known (Offending ED25519 key in "
        "/root/.ssh/known_hosts:2)");
  CHECK(failure.remedy.find("ssh-keygen -R b") != std::string::npos);
}

TEST_CASE("a refused login names the key that ssh could not use",
          "[launcher]") {
  const std::string warning =
      "Warning: Identity file /x not accessible: No such file or directory.";
  CHECK(Ssh({warning, "root@b: Permission denied (publickey)."}).remedy ==
        warning);
  CHECK(Ssh({"root@b: Permission denied (publickey)."}).remedy.empty());
}

TEST_CASE("an ssh that says nothing is tried again", "[launcher]") {
  const RemoteFailure failure = Ssh({});
  CHECK(failure.phase == kConnect);
  CHECK(failure.again == kWorthIt);
  CHECK(failure.text == "ssh ended with exit code 255");
  CHECK_FALSE(failure.explained);
  const RemoteFailure killed = JudgeRemoteEnd({.status = {0, 9}}, kPlace, "b");
  CHECK(killed.again == kWorthIt);
  CHECK(killed.text == "ssh was killed by SIGKILL");
}

TEST_CASE("a missing agent is named with its path and what to do",
          "[launcher]") {
  const RemoteFailure missing =
      Ssh({"exec: /opt/agent: not found"}, 127, Reached::kLogin);
  CHECK(missing.phase == kAgentStarts);
  CHECK(missing.again == kHopeless);
  CHECK(missing.text ==
        "there is no hvdrun-agent at /opt/agent (exec: /opt/agent: not found)");
  CHECK(missing.remedy.find("--agent-path") != std::string::npos);
  CHECK(missing.remedy.find("--install-agent") != std::string::npos);
  const RemoteFailure broken = Ssh({"Permission denied"}, 126, Reached::kLogin);
  CHECK(broken.again == kHopeless);
  CHECK(broken.text ==
        "hvdrun-agent at /opt/agent cannot be run (Permission denied)");
}

TEST_CASE("a login shell that runs nothing is told from an agent that fails",
          "[launcher]") {
  const RemoteFailure nologin =
      Ssh({"This account is currently not available."}, 1);
  CHECK(nologin.phase == kAgentStarts);
  CHECK(nologin.again == kHopeless);
  CHECK(nologin.text ==
        "the login shell there ended with exit code 1 (This account is "
        "currently not available.)");
  CHECK(Ssh({"System is going down."}, 254).again == kWorthIt);
  CHECK(Ssh({}, 3, Reached::kLogin).text ==
        "hvdrun-agent at /opt/agent ended with exit code 3 before it greeted");
}

TEST_CASE("a connection lost on the way to the agent is tried again",
          "[launcher]") {
  const RemoteFailure lost =
      Ssh({"Connection to b closed by remote host."}, 255, Reached::kLogin);
  CHECK(lost.phase == kAgentStarts);
  CHECK(lost.again == kWorthIt);
}

TEST_CASE("an agent that installs itself says why it cannot", "[launcher]") {
  const AgentPlace install{.kind = AgentPlace::Kind::kInstall};
  const auto judge = [&](int code) {
    return JudgeRemoteEnd({.reached = Reached::kLogin, .status = {code, 0}},
                          install, "b");
  };
  CHECK(judge(kExitNoFolder).again == kHopeless);
  CHECK(judge(kExitNoFolder).text.find("/dev/shm") != std::string::npos);
  CHECK(judge(kExitCutShort).again == kWorthIt);
}

TEST_CASE("what replaces ssh is known by its exit code alone", "[launcher]") {
  const auto judge = [](int code, std::vector<std::string> said = {}) {
    return JudgeRemoteEnd(
        {.is_ssh = false, .status = {code, 0}, .said = std::move(said)}, kPlace,
        "b");
  };
  const RemoteFailure pod = judge(1, {"Error: pods \"b\" not found"});
  CHECK(pod.phase == kConnect);
  CHECK(pod.again == kWorthIt);
  CHECK(pod.text ==
        "the remote shell ended with exit code 1 (Error: pods \"b\" not "
        "found)");
  CHECK(judge(127).again == kHopeless);
  CHECK(judge(126).again == kHopeless);
}

TEST_CASE("the end of an agent is told from the end of its connection",
          "[launcher]") {
  const RemoteFailure agent = Ssh({"terminate called"}, 134, Reached::kAgent);
  CHECK(agent.phase == kAgentAnswers);
  CHECK(agent.text == "the agent ended with exit code 134 (terminate called)");
  CHECK(Ssh({}, 255, Reached::kAgent).text ==
        "the connection to its agent ended");
}

}  // namespace hvd
