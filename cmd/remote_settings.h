// RemoteSettings: how hosts other than this machine are reached, and where
// their agents are.
//
// Pure.
#pragma once

#include <optional>

#include "base/result.h"
#include "cmd/arguments.h"
#include "launcher/remote_command.h"

namespace hvd {

struct RemoteSettings {
  RemoteShell shell;  // but for ssh_config, which is a matter of installation
  AgentPlace place;   // but for the path of kHere and the bytes of kInstall
  int connect_concurrency = 32;
  int fan_out = 32;
};

// nullopt: not a flag of this kind.
std::optional<Status> ApplyRemoteFlag(const FlagUse& use,
                                      RemoteSettings& settings);

// Whether they fit together.
Status CheckRemote(const RemoteSettings& settings);

}  // namespace hvd
