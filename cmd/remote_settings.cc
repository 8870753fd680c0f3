#include "cmd/remote_settings.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "base/shell_quote.h"
#include "cmd/draft.h"

namespace hvd {
namespace {

// More would be more than a machine has descriptors for.
constexpr int kMostAtOnce = 4096;

// nullopt: no whole number from 1 to `most`.
std::optional<int> ParseUpTo(int most, std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 1 ||
      number > most) {
    return std::nullopt;
  }
  return number;
}

Status SetPort(const FlagUse& use, RemoteSettings& settings) {
  constexpr int kMostPort = std::numeric_limits<std::uint16_t>::max();
  const std::optional<int> port = ParseUpTo(kMostPort, use.value);
  if (!port) return Refuse(use, "must be a port from 1 to 65535");
  settings.shell.port = static_cast<std::uint16_t>(*port);
  return Done{};
}

Status SetCount(const FlagUse& use, int& target) {
  const std::optional<int> count = ParseUpTo(kMostAtOnce, use.value);
  if (!count) {
    return Refuse(
        use, "must be a whole number from 1 to " + std::to_string(kMostAtOnce));
  }
  target = *count;
  return Done{};
}

// No path that anybody has, and more than a csh could read back.
bool IsOneLine(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

Status SetPath(const FlagUse& use, std::string& target) {
  if (use.value.empty()) return Refuse(use, "must not be empty");
  if (!IsOneLine(use.value)) {
    return Refuse(use, "must have no control characters");
  }
  target = use.value;
  return Done{};
}

Status SetWords(const FlagUse& use, std::vector<std::string>& target) {
  Result<std::vector<std::string>> words = SplitShellWords(use.value);
  if (!words.ok()) {
    return Refuse(
        use, "must be words for a shell (" + words.error().message() + ')');
  }
  if (words.value().empty()) return Refuse(use, "must not be empty");
  target = std::move(words).value();
  return Done{};
}

// A word before the options would be a host to ssh, and ours its command.
Status SetSshArgs(const FlagUse& use, RemoteSettings& settings) {
  Status set = SetWords(use, settings.shell.ssh_args);
  if (!set.ok()) return set;
  if (!settings.shell.ssh_args.front().starts_with('-')) {
    return Refuse(use, "must begin with an option of ssh");
  }
  return Done{};
}

Status SetAgentPath(const FlagUse& use, RemoteSettings& settings) {
  if (settings.place.kind != AgentPlace::Kind::kInstall) {
    settings.place.kind = AgentPlace::Kind::kGiven;
  }
  return SetPath(use, settings.place.path);
}

Error Exclude(const std::string& one, const std::string& other) {
  return {ErrorCode::kInvalidArgument,
          one + " and " + other + " exclude each other"};
}

}  // namespace

std::optional<Status> ApplyRemoteFlag(const FlagUse& use,
                                      RemoteSettings& settings) {
  switch (use.flag->id) {
    case FlagId::kSshPort:
      return SetPort(use, settings);
    case FlagId::kSshIdentityFile:
      return SetPath(use, settings.shell.identity_file);
    case FlagId::kSshArgs:
      return SetSshArgs(use, settings);
    case FlagId::kRemoteShell:
      return SetWords(use, settings.shell.command);
    case FlagId::kAgentPath:
      return SetAgentPath(use, settings);
    case FlagId::kInstallAgent:
      settings.place.kind = AgentPlace::Kind::kInstall;
      return Done{};
    case FlagId::kConnectConcurrency:
      return SetCount(use, settings.connect_concurrency);
    case FlagId::kFanOut:
      return SetCount(use, settings.fan_out);
    default:  // the others: ApplyFlag
      return std::nullopt;
  }
}

Status CheckRemote(const RemoteSettings& settings) {
  const RemoteShell& shell = settings.shell;
  if (!shell.is_ssh() && !shell.ssh_args.empty()) {
    return Exclude("--remote-shell", "--ssh-args");
  }
  if (!shell.is_ssh() && !shell.identity_file.empty()) {
    return Exclude("--remote-shell", "--ssh-identity-file");
  }
  if (settings.place.kind == AgentPlace::Kind::kInstall &&
      !settings.place.path.empty()) {
    return Exclude("--install-agent", "--agent-path");
  }
  return Done{};
}

}  // namespace hvd
