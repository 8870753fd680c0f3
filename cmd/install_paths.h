// Where the other files of this installation are, found from the program's own
// place, so that a tree that was moved still works.
#pragma once

#include <string>

#include "base/result.h"

namespace hvd {

// <prefix>/libexec/hvdrun/hvdrun-keeper, for the prefix of <prefix>/bin/hvdrun.
// Errors name the path that was tried.
Result<std::string> KeeperPath();
// <prefix>/libexec/hvdrun/hvdrun-agent.
Result<std::string> AgentPath();
// <prefix>/libexec/hvdrun/ssh_config: what ssh is given with -F.
Result<std::string> SshConfigPath();
// The same, for the program that is in <prefix>/libexec/hvdrun itself.
Result<std::string> SshConfigPathOfAgent();
// <prefix>/libexec/hvdrun/libhvdrun_remote.so, whether it is there or not.
std::string RemoteLibraryPath();
// <prefix>/lib/libhvd.so.
Result<std::string> LibhvdPath();

}  // namespace hvd
