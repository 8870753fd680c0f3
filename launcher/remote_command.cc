#include "launcher/remote_command.h"

#include <algorithm>
#include <string_view>

#include "base/shell_quote.h"
#include "launcher/agent_greeting.h"

namespace hvd {
namespace {

// "$1" is the path.
constexpr std::string_view kRunHere =
    "if [ -e \"$1\" ]; then exec \"$1\"; fi; exec hvdrun-agent";
constexpr std::string_view kRunGiven = "exec \"$1\"";

// "$1" is the number of bytes, $2 and $3 the exit codes. The program's file is
// gone before the program runs, which needs only the descriptor: there is
// nothing left that anybody would have to remove, whoever is killed later.
// Before that the trap removes it, and a connection that dies shows as too few
// bytes.
constexpr std::string_view kInstall =
    "umask 077; t=; clean() { rm -rf \"$t\"; }; trap clean EXIT; "
    "trap \"exit $3\" HUP INT TERM PIPE; "
    "for d in \"$TMPDIR\" /tmp \"$HOME/.cache\" \"$HOME\" /dev/shm "
    "\"$XDG_RUNTIME_DIR\"; do "
    "[ -d \"$d\" ] || continue; "
    "t=$(mktemp -d \"$d/hvdrun-agent.XXXXXX\" 2>/dev/null) || continue; "
    // A folder may be mounted noexec.
    "echo exit 0 >\"$t/probe\" && chmod 700 \"$t/probe\" && "
    "\"$t/probe\" </dev/null 2>/dev/null && break; "
    "clean; t=; done; "
    "[ -n \"$t\" ] || exit $2; "
    "head -c \"$1\" >\"$t/hvdrun-agent\"; "
    "[ \"$(wc -c <\"$t/hvdrun-agent\")\" -eq \"$1\" ] || exit $3; "
    "chmod 700 \"$t/hvdrun-agent\"; exec 3<\"$t/hvdrun-agent\"; clean; "
    "exec /proc/self/fd/3";

bool ChoosesConfig(const std::vector<std::string>& ssh_args) {
  return std::any_of(
      ssh_args.begin(), ssh_args.end(),
      [](const std::string& word) { return word.starts_with("-F"); });
}

// ssh takes the first value that it is given for an option, so the user's words
// stand before ours. Only of -T and -t the last one counts.
std::vector<std::string> SshWords(const RemoteShell& shell) {
  std::vector<std::string> words = {"ssh"};
  words.insert(words.end(), shell.ssh_args.begin(), shell.ssh_args.end());
  words.emplace_back("-T");
  if (!shell.ssh_config.empty() && !ChoosesConfig(shell.ssh_args)) {
    words.insert(words.end(), {"-F", shell.ssh_config});
  }
  words.insert(words.end(), {"-o", "BatchMode=yes"});
  const auto seconds =
      std::max<Duration::rep>(1, shell.connect_timeout.count() / 1000);
  words.insert(words.end(),
               {"-o", "ConnectTimeout=" + std::to_string(seconds)});
  if (!shell.identity_file.empty()) {
    words.insert(words.end(), {"-i", shell.identity_file});
  }
  return words;
}

}  // namespace

std::string RemoteLine(const AgentPlace& place) {
  std::string script = "echo " + std::string(LoginMark()) + "; ";
  std::vector<std::string> arguments;
  switch (place.kind) {
    case AgentPlace::Kind::kHere:
      script += kRunHere;
      arguments = {place.path};
      break;
    case AgentPlace::Kind::kGiven:
      script += kRunGiven;
      arguments = {place.path};
      break;
    case AgentPlace::Kind::kInstall:
      script += kInstall;
      arguments = {std::to_string(place.bytes), std::to_string(kExitNoFolder),
                   std::to_string(kExitCutShort)};
      break;
  }
  std::vector<std::string> words = {"exec", "/bin/sh", "-c", script, "hvdrun"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return ShellQuote(words);
}

std::vector<std::string> RemoteArgv(const RemoteShell& shell,
                                    const RemoteHost& host,
                                    const std::string& line) {
  std::vector<std::string> words =
      shell.is_ssh() ? SshWords(shell) : shell.command;
  const std::optional<std::uint16_t> port =
      host.login.port ? host.login.port : shell.port;
  if (port) words.insert(words.end(), {"-p", std::to_string(*port)});
  words.push_back((host.login.user ? *host.login.user + '@' : "") + host.host);
  words.push_back(line);
  return words;
}

std::string Describe(const AgentPlace& place) {
  if (place.kind != AgentPlace::Kind::kInstall &&
      place.path.find('/') == std::string::npos) {
    return place.path + " in the PATH there";
  }
  switch (place.kind) {
    case AgentPlace::Kind::kHere:
      return "hvdrun-agent at " + place.path + " or in the PATH there";
    case AgentPlace::Kind::kGiven:
      return "hvdrun-agent at " + place.path;
    case AgentPlace::Kind::kInstall:
      return "the installed hvdrun-agent";
  }
  return "";
}

}  // namespace hvd
