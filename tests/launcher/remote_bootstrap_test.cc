// RemoteBootstrap and a host's words, with programs of the test's own in the
// place of ssh. What a real ssh and sshd do is in remote_start_test.cc.
#include "launcher/remote_bootstrap.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <vector>

#include "tests/launcher/one_host.h"
#include "tests/support/program.h"

namespace hvd {

using testing::kLocal;
using testing::OneHost;
using testing::ReadFile;
using Kind = AgentPlace::Kind;

TEST_CASE("an agent gets its orders, and its stdin stays open until the end",
          "[launcher]") {
  OneHost f(kLocal);
  f.Start("orders");
  REQUIRE(f.Says("orders: 6 bytes"));
  CHECK(f.logged_in);
  CHECK(f.version == "1.2.3");
  CHECK_FALSE(f.end.has_value());
  f.Stop();
  CHECK(f.OnlyKeeperLeft());
}

TEST_CASE("orders of a mebibyte reach the agent whole", "[launcher]") {
  OneHost f(kLocal);
  f.Start(std::string(kMaxAgentPayload, 'x'));
  CHECK(f.Says("orders: 1048576 bytes"));
}

TEST_CASE("a refused login is told with the very command to paste",
          "[launcher]") {
  OneHost f(
      "printf '%s\\n' \"$@\" >>argv; echo 'Permission denied "
      "(publickey).' >&2; exit 255",
      OneHost::StandIn(), {.port = std::uint16_t{2222}});
  f.Start("a secret", {"b", {.user = "root"}});
  const BootstrapEnd end = f.End();
  CHECK(end.phase == StartPhase::kAuthenticate);
  CHECK(end.again == Again::kHopeless);
  CHECK(end.error.message() ==
        "host b: authenticate: Permission denied (publickey).");
  const std::string argv = ReadFile(f.directory() / "argv");
  CHECK(argv.find("-p\n2222\nroot@b\n") != std::string::npos);
  CHECK(argv.find("secret") == std::string::npos);

  const std::string& hint = end.error.hint();
  const std::string by_hand = "by hand: ";
  REQUIRE(hint.find(by_hand) != std::string::npos);
  const std::string command = hint.substr(hint.find(by_hand) + by_hand.size());
  std::filesystem::remove(f.directory() / "argv");
  const auto pasted = testing::RunProgram(
      {"/bin/sh", "-c", command},
      {.env = {{"PATH", f.directory().path() + ":/usr/bin:/bin"}},
       .cwd = f.directory().path()});
  CHECK(pasted.status.code == 255);
  CHECK(ReadFile(f.directory() / "argv") == argv);
}

TEST_CASE("what a login shell says before the agent does no harm",
          "[launcher]") {
  OneHost f(
      "printf 'Welcome\\r\\n\\033[31m\\377\\000\\001 red\\n  '; echo "
      "banner >&2; printf 'no end'; " +
      std::string(kLocal));
  f.Start();
  REQUIRE(f.Says("orders: 6 bytes"));
  const std::string told = f.Told();
  CHECK(told.find("Welcome\n") != std::string::npos);
  CHECK(told.find("banner\n") != std::string::npos);
  CHECK(told.find("no end\n") != std::string::npos);
  CHECK(told.find('\033') == std::string::npos);
}

TEST_CASE("a login shell that never stops talking is stopped", "[launcher]") {
  const bool on_stderr = GENERATE(false, true);
  OneHost f(on_stderr ? "yes hello >&2" : "yes hello | tr -d '\\n'");
  f.Start();
  const BootstrapEnd end = f.End();
  CHECK(end.again == Again::kHopeless);
  CHECK(end.error.message().find("more than 256 KiB") != std::string::npos);
  CHECK(f.OnlyKeeperLeft());
}

TEST_CASE("an agent that is not there is named with path and remedy",
          "[launcher]") {
  OneHost missing(kLocal, {Kind::kGiven, "/no such/agent"});
  missing.Start();
  const BootstrapEnd end = missing.End();
  CHECK(end.phase == StartPhase::kAgentStarts);
  CHECK(end.again == Again::kHopeless);
  CHECK(end.error.message().find(
            "there is no hvdrun-agent at /no such/agent") != std::string::npos);
  CHECK(end.error.hint().find("--install-agent") != std::string::npos);

  OneHost unusable(kLocal, {Kind::kGiven, "/etc/passwd"});
  unusable.Start();
  CHECK(unusable.End().error.message().find(
            "hvdrun-agent at /etc/passwd cannot be run") != std::string::npos);
}

TEST_CASE("an agent is found where it is here, or in the PATH there",
          "[launcher]") {
  OneHost here(kLocal, {Kind::kHere, HVD_TEST_AGENT});
  here.Start();
  CHECK(here.Says("orders: 6 bytes"));
  OneHost there(kLocal, {Kind::kHere, "/no/such/agent"});
  std::filesystem::create_symlink(HVD_TEST_AGENT,
                                  there.directory() / "hvdrun-agent");
  there.Start();
  CHECK(there.Says("orders: 6 bytes"));
}

TEST_CASE("an agent of another protocol gets no orders", "[launcher]") {
  OneHost f(
      "echo HVDRUN-LOGIN; echo HVDRUN-AGENT 99 9.9; cat >orders; sleep 60");
  f.Start("a secret");
  const BootstrapEnd end = f.End();
  CHECK(end.phase == StartPhase::kAgentStarts);
  CHECK(end.again == Again::kHopeless);
  CHECK(end.error.message() ==
        "host b: agent starts: hvdrun-agent at " HVD_TEST_AGENT
        " is of hvdrun 9.9 and speaks protocol 99, this is hvdrun 1.2.3 with "
        "protocol 2");
  CHECK(end.error.hint().find("install the same hvdrun there") == 0);
  CHECK(f.OnlyKeeperLeft());
  CHECK(ReadFile(f.directory() / "orders").empty());
}

TEST_CASE("an ssh that is not installed is said to be missing here",
          "[launcher]") {
  OneHost f("", OneHost::StandIn(), {.command = {"no-such-command"}});
  f.Start();
  const BootstrapEnd end = f.End();
  CHECK(end.again == Again::kHopeless);
  CHECK(end.error.message() ==
        "host b: connect: no-such-command: command not found");
}

TEST_CASE("a name that would mean something to a shell goes to none",
          "[launcher]") {
  OneHost f("touch ran");
  f.Start("orders", {"b;touch x"});
  CHECK(f.End().again == Again::kHopeless);
  f.Start("orders", {"b", {.user = "$(touch x)"}});
  CHECK(f.End().phase == StartPhase::kResolve);
  CHECK_FALSE(std::filesystem::exists(f.directory() / "ran"));
}

TEST_CASE("a host is tried again when there were no descriptors for it",
          "[launcher]") {
  OneHost f(kLocal);
  {
    std::vector<UniqueFd> all;
    for (int fd = ::dup(1); fd >= 0; fd = ::dup(1)) all.emplace_back(fd);
    REQUIRE(all.size() > 2);
    all.resize(all.size() - 2);  // room for less than is needed
    f.Start();
  }
  const BootstrapEnd end = f.End();
  CHECK(end.again == Again::kWorthIt);
  CHECK(end.error.message() == "host b: resolve: pipe: Too many open files");
  f.Start();
  CHECK(f.Says("orders: 6 bytes"));
}

TEST_CASE("an agent's last words come with its end", "[launcher]") {
  OneHost f(
      "echo noise >&2; echo HVDRUN-LOGIN; echo HVDRUN-AGENT 2 1.2.3; "
      "read orders; echo 'out of memory' >&2; exit 7");
  f.Start();
  const BootstrapEnd end = f.End();
  CHECK(f.version == "1.2.3");
  CHECK(end.phase == StartPhase::kAgentAnswers);
  CHECK(end.error.message() ==
        "host b: agent answers: the agent ended with exit code 7 (out of "
        "memory)");
}

}  // namespace hvd
