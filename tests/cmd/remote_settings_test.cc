#include "cmd/remote_settings.h"

#include <catch2/catch.hpp>

#include "cmd/settings.h"

namespace hvd {
namespace {

using Words = std::vector<std::string>;
using Kind = AgentPlace::Kind;

Result<Settings> Read(const Words& flags, const EnvList& env = {}) {
  Words words = {"-np", "1"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.emplace_back("x");
  return ParseSettings(words, env, [](const std::string& path) {
    return Result<std::string>(Error{ErrorCode::kNotFound, path});
  });
}

RemoteSettings Remote(const Words& flags, const EnvList& env = {}) {
  const Result<Settings> settings = Read(flags, env);
  if (!settings.ok()) FAIL(settings.error().message());
  CHECK(settings.value().command == Words{"x"});
  return settings.value().remote;
}

std::string ErrorOf(const Words& flags) {
  const Result<Settings> settings = Read(flags);
  REQUIRE_FALSE(settings.ok());
  return settings.error().message();
}

}  // namespace

TEST_CASE("without flags ssh decides, and the agent is where it is here",
          "[cmd][unit]") {
  const RemoteSettings remote = Remote({});
  CHECK(remote.shell.is_ssh());
  CHECK_FALSE(remote.shell.port);
  CHECK(remote.shell.identity_file.empty());
  CHECK(remote.shell.ssh_args.empty());
  CHECK(remote.place.kind == Kind::kHere);
  CHECK(remote.connect_concurrency == 32);
  CHECK(remote.fan_out == 32);
}

TEST_CASE("horovodrun's flags for ssh are taken as it takes them",
          "[cmd][unit]") {
  for (const Words& flags :
       {Words{"-p", "2222", "-i", "/k"}, Words{"-p2222", "-i/k"},
        Words{"-p=2222", "-i=/k"},
        Words{"--ssh-port", "2222", "--ssh-identity-file", "/k"},
        Words{"--ssh-p=2222", "--ssh-i", "/k"}}) {
    CAPTURE(flags);
    const RemoteSettings remote = Remote(flags);
    CHECK(remote.shell.port == 2222);
    CHECK(remote.shell.identity_file == "/k");
  }
  // What begins with -p and -i, and is neither.
  CHECK(Read({"-prefix-timestamp"}).value().output_timestamps);
  CHECK(ErrorOf({"-pkill", "2"}) == "unknown flag -pkill");
  CHECK(ErrorOf({"-install-agent"}) == "unknown flag -install-agent");
}

TEST_CASE("hvdrun splits --ssh-args as a shell would", "[cmd][unit]") {
  CHECK(Remote({"--ssh-args", "-o 'ProxyJump a b' -4"}).shell.ssh_args ==
        Words{"-o", "ProxyJump a b", "-4"});
  CHECK(Remote({"--ssh-args", "-v"}).shell.ssh_args == Words{"-v"});
  CHECK(Remote({}, {{"HVDRUN_SSH_ARGS", "-4"}}).shell.ssh_args == Words{"-4"});
  CHECK(ErrorOf({"--ssh-args", "-o 'x"}) ==
        "--ssh-args must be words for a shell (the quote ' is not closed), got "
        "\"-o 'x\"");
  CHECK(ErrorOf({"--ssh-args", "gate -v"}) ==
        "--ssh-args must begin with an option of ssh, got \"gate -v\"");
  CHECK(ErrorOf({"--ssh-args= "}) == "--ssh-args must not be empty, got \" \"");
}

TEST_CASE("hvdrun --remote-shell takes a command with words of its own",
          "[cmd][unit]") {
  const RemoteSettings remote = Remote({"--remote-shell", "./rsh -n 'a b'"});
  CHECK(remote.shell.command == Words{"./rsh", "-n", "a b"});
  CHECK_FALSE(remote.shell.is_ssh());
  CHECK(ErrorOf({"--remote-shell", "rsh", "--ssh-args", "-4"}) ==
        "--remote-shell and --ssh-args exclude each other");
  CHECK(ErrorOf({"--remote-shell", "rsh", "-i", "k"}) ==
        "--remote-shell and --ssh-identity-file exclude each other");
}

TEST_CASE("the agent is in one place", "[cmd][unit]") {
  const RemoteSettings given = Remote({"--agent-path", "/a b/agent"});
  CHECK(given.place.kind == Kind::kGiven);
  CHECK(given.place.path == "/a b/agent");
  CHECK(Remote({"--install-agent"}).place.kind == Kind::kInstall);
  for (const Words& both : {Words{"--install-agent", "--agent-path", "/a"},
                            Words{"--agent-path", "/a", "--install-agent"}}) {
    CHECK(ErrorOf(both) ==
          "--install-agent and --agent-path exclude each other");
  }
  CHECK(ErrorOf({"--agent-path", "/a\nb"}).find("control characters") !=
        std::string::npos);
}

TEST_CASE("numbers of connections are checked", "[cmd][unit]") {
  CHECK(Remote({"--connect-concurrency", "4"}).connect_concurrency == 4);
  for (const std::string bad : {"0", "-1", "4097", "x", "2.5"}) {
    CHECK(ErrorOf({"--connect-concurrency", bad}) ==
          "--connect-concurrency must be a whole number from 1 to 4096, got "
          "\"" +
              bad + "\"");
  }
  CHECK(Remote({"--fan-out", "4096"}).fan_out == 4096);
  CHECK(Remote({}, {{"HVDRUN_FAN_OUT", "2"}}).fan_out == 2);
  CHECK(ErrorOf({"--fan-out", "0"}) ==
        "--fan-out must be a whole number from 1 to 4096, got \"0\"");
  for (const std::string bad : {"0", "65536", "ssh", "22x"}) {
    CHECK(ErrorOf({"--ssh-port", bad}) ==
          "--ssh-port must be a port from 1 to 65535, got \"" + bad + "\"");
  }
}

}  // namespace hvd
