#include "launcher/remote_command.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/shell_quote.h"

namespace hvd {
namespace {

using Words = std::vector<std::string>;
using Kind = AgentPlace::Kind;

Words Argv(const RemoteShell& shell, const RemoteHost& host = {"b"}) {
  return RemoteArgv(shell, host, "line");
}

}  // namespace

TEST_CASE("ssh gets no port, user or key that nobody asked for", "[launcher]") {
  // Horovod #2117: a port that was passed along hid the user's own settings.
  CHECK(Argv({}) == Words{"ssh", "-T", "-o", "BatchMode=yes", "-o",
                          "ConnectTimeout=10", "b", "line"});
}

TEST_CASE("ssh gets what was asked for, once", "[launcher]") {
  const RemoteShell shell{.port = std::uint16_t{2222},
                          .identity_file = "/a b/id",
                          .ssh_config = "/x/ssh_config",
                          .connect_timeout = Duration{2'900}};
  CHECK(Argv(shell, {"b", {.user = "root"}}) ==
        Words{"ssh", "-T", "-F", "/x/ssh_config", "-o", "BatchMode=yes", "-o",
              "ConnectTimeout=2", "-i", "/a b/id", "-p", "2222", "root@b",
              "line"});
}

TEST_CASE("a host's own port comes before that of all", "[launcher]") {
  const RemoteShell shell{.port = std::uint16_t{2222}};
  const Words words = Argv(shell, {"b", {.port = std::uint16_t{22}}});
  CHECK(std::count(words.begin(), words.end(), "-p") == 1);
  CHECK(std::count(words.begin(), words.end(), "22") == 1);
}

TEST_CASE("the user's ssh options stand where ssh heeds them", "[launcher]") {
  // DeepSpeed #4370: the user's options were replaced by the launcher's.
  for (const bool has_port : {false, true}) {
    for (const bool has_args : {false, true}) {
      RemoteShell shell;
      if (has_port) shell.port = std::uint16_t{2222};
      if (has_args) shell.ssh_args = {"-o", "ConnectTimeout=3"};
      const Words words = Argv(shell);
      const auto theirs =
          std::find(words.begin(), words.end(), "ConnectTimeout=3");
      const auto ours =
          std::find(words.begin(), words.end(), "ConnectTimeout=10");
      REQUIRE(ours != words.end());
      CHECK((theirs != words.end()) == has_args);
      CHECK((theirs < ours) == has_args);  // ssh takes the first
      CHECK(std::count(words.begin(), words.end(), "-p") == int{has_port});
    }
  }
}

TEST_CASE("a configuration file of the user's choice replaces ours",
          "[launcher]") {
  for (const Words& args : {Words{"-F", "none"}, Words{"-Fnone"}}) {
    const Words words = Argv({.ssh_args = args, .ssh_config = "/x/ssh_config"});
    CHECK(std::count(words.begin(), words.end(), "/x/ssh_config") == 0);
  }
}

TEST_CASE("what replaces ssh gets its shape and none of its options",
          "[launcher]") {
  RemoteShell shell{.command = {"./rsh", "-n", "ns"},
                    .identity_file = "id",
                    .ssh_args = {"-v"},
                    .ssh_config = "c"};
  CHECK(Argv(shell) == Words{"./rsh", "-n", "ns", "b", "line"});
  shell.port = std::uint16_t{2222};
  CHECK(Argv(shell, {"fd77::1", {.user = "root"}}) ==
        Words{"./rsh", "-n", "ns", "-p", "2222", "root@fd77::1", "line"});
}

TEST_CASE("the line there names the agent's path and nothing else of ours",
          "[launcher]") {
  CHECK(RemoteLine({Kind::kGiven, "/a b/agent"}) ==
        "exec /bin/sh -c 'echo HVDRUN-LOGIN; exec \"$1\"' hvdrun '/a b/agent'");
  CHECK(RemoteLine({Kind::kHere, "/opt/agent"}) ==
        "exec /bin/sh -c 'echo HVDRUN-LOGIN; if [ -e \"$1\" ]; then exec "
        "\"$1\"; fi; exec hvdrun-agent' hvdrun /opt/agent");
}

TEST_CASE("a message says where an agent was looked for", "[launcher]") {
  CHECK(Describe({Kind::kHere, "/opt/a"}) ==
        "hvdrun-agent at /opt/a or in the PATH there");
  CHECK(Describe({Kind::kHere, "hvdrun-agent"}) ==
        "hvdrun-agent in the PATH there");
  CHECK(Describe({Kind::kGiven, "/opt/a"}) == "hvdrun-agent at /opt/a");
  CHECK(Describe({Kind::kGiven, "my-agent"}) == "my-agent in the PATH there");
  CHECK(Describe({.kind = Kind::kInstall}) == "the installed hvdrun-agent");
}

TEST_CASE("the script that installs needs no quoting that shells differ in",
          "[launcher]") {
  const std::string line =
      RemoteLine({.kind = Kind::kInstall, .bytes = 12'345});
  CHECK(std::count(line.begin(), line.end(), '\'') == 2);
  CHECK(line.find_first_of("\\!\n") == std::string::npos);
  CHECK(line.find(" hvdrun 12345 121 122") != std::string::npos);
  CHECK(line.size() < 1000);  // a word of csh
}

}  // namespace hvd
