// What RemoteBootstrap starts, here and on a host, and what is left of it.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "tests/launcher/one_host.h"
#include "tests/support/processes.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd {

using testing::kLocal;
using testing::NoneLeft;
using testing::OneHost;
using testing::Program;
using testing::ReadFile;
using testing::ScopedMark;
using testing::TemporaryDirectory;
using Kind = AgentPlace::Kind;

TEST_CASE("a killed ssh ends its host and may be tried again", "[launcher]") {
  OneHost f("echo $$ >pid; " + std::string(kLocal));
  f.Start();
  REQUIRE(f.Says("orders: 6 bytes"));
  REQUIRE(::kill(std::stoi(ReadFile(f.directory() / "pid")), SIGKILL) == 0);
  const BootstrapEnd end = f.End();
  CHECK(end.again == Again::kWorthIt);
  CHECK(end.error.message().starts_with(
      "host b: agent answers: the connection to its agent ended"));
}

TEST_CASE("a command that minds nothing is ended with all it has started",
          "[launcher]") {
  OneHost f(
      "trap '' TERM HUP INT; sleep 600 & exec <&-; while :; do sleep "
      "0.05; done");
  f.Start();
  // It has begun.
  REQUIRE(f.Until([&] {
    return testing::ChildrenOf(f.bootstrap().keeper_pid()).size() == 1;
  }));
  f.Stop();
  CHECK(f.OnlyKeeperLeft());
}

TEST_CASE("an installed agent runs from a file that is gone already",
          "[launcher]") {
  OneHost f(kLocal, {Kind::kInstall});
  f.Start();
  REQUIRE(f.Says("orders: 6 bytes"));
  CHECK(f.version == "1.2.3");
  CHECK(std::filesystem::is_empty(f.directory() / "tmp"));
  f.Stop();
  CHECK(f.OnlyKeeperLeft());
}

TEST_CASE("half an agent leaves nothing behind and may be tried again",
          "[launcher]") {
  OneHost f("for word; do :; done; head -c 100000 | /bin/sh -c \"$word\"",
            {Kind::kInstall});
  f.Start();
  const BootstrapEnd end = f.End();
  CHECK(end.phase == StartPhase::kAgentStarts);
  CHECK(end.again == Again::kWorthIt);
  CHECK(end.reason == "the agent program did not come through");
  CHECK(std::filesystem::is_empty(f.directory() / "tmp"));
}

TEST_CASE("any login shell reads the words for the agent the same way",
          "[launcher]") {
  const std::string shell =
      GENERATE("dash", "bash", "bash --posix", "tcsh", "fish");
  CAPTURE(shell);
  const TemporaryDirectory place;
  const std::string odd = place / "it's a \"dir\" !1 $x \\ `y` {a,b} *";
  std::filesystem::create_directory(odd);
  std::filesystem::copy(HVD_TEST_AGENT, odd + "/agent");
  for (const AgentPlace& agent :
       {AgentPlace{Kind::kGiven, odd + "/agent"}, AgentPlace{Kind::kInstall}}) {
    OneHost f("for word; do :; done; exec " + shell + " -c \"$word\"", agent);
    f.Start();
    CHECK(f.Says("orders: 6 bytes"));
  }
}

TEST_CASE("ssh has no terminal and no window to ask anything on",
          "[launcher]") {
  const TemporaryDirectory directory;
  directory.Write("ssh",
                  "#!/bin/sh\nif echo '' >/dev/tty; then echo has a tty >&2; "
                  "else echo no tty >&2; fi\n"
                  "echo \"window: $DISPLAY$SSH_ASKPASS.\" >&2; exit 255\n",
                  0755);
  Program host({HVD_TEST_STARTS_HOST, HVD_TEST_KEEPER, "given=/x", "chatter=1",
                "timeout=300", "b"},
               {.env = {{"PATH", directory.path() + ":/usr/bin:/bin"},
                        {"DISPLAY", ":0"},
                        {"SSH_ASKPASS", "/bin/false"}},
                .terminal = true});
  CHECK(host.WaitForOutput("failed host b"));
  CHECK(host.out().find("ssh b: no tty") != std::string::npos);
  CHECK(host.out().find("ssh b: window: .") != std::string::npos);
}

TEST_CASE("killing the launcher alone leaves no ssh, whatever that minds",
          "[launcher]") {
  const ScopedMark mark;
  const TemporaryDirectory directory;
  directory.Write("ssh",
                  "#!/bin/sh\ntrap '' TERM HUP INT PIPE\n(setsid sleep 600 &)\n"
                  "sleep 600 &\necho up >&2\nwhile :; do sleep 0.05; done\n",
                  0755);
  Program host(
      {HVD_TEST_STARTS_HOST, HVD_TEST_KEEPER, "given=/x", "chatter=1", "b,c"},
      {.env = {{"PATH", directory.path() + ":/usr/bin:/bin"},
               {"MARK", mark.text()}},
       .terminal = true});
  REQUIRE(host.WaitForOutput("ssh b: up"));
  REQUIRE(host.WaitForOutput("ssh c: up"));
  host.Signal(SIGKILL);
  CHECK(host.Wait().status == ExitStatus{0, SIGKILL});
  CHECK(NoneLeft(mark.text(), 5s));
}

TEST_CASE("a killed keeper ends every connection and is told", "[launcher]") {
  OneHost f(kLocal);
  f.Start();
  REQUIRE(f.Says("orders: 6 bytes"));
  REQUIRE(::kill(f.bootstrap().keeper_pid(), SIGKILL) == 0);
  const BootstrapEnd end = f.End();
  CHECK(end.again == Again::kHopeless);
  CHECK(end.error.message().find("the keeper was killed") != std::string::npos);
  CHECK(f.NobodyLeft());
  f.Start();
  CHECK(f.End().error.message().find("the keeper is gone") !=
        std::string::npos);
}

}  // namespace hvd
