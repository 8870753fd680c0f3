#include "cmd/install_paths.h"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace hvd {
namespace {

// The directory that is so many levels above this program: 2 is what holds
// bin/, lib/ and libexec/ for a program in bin/.
Result<std::string> Above(int levels) {
  std::array<char, PATH_MAX> path{};
  const ssize_t n = ::readlink("/proc/self/exe", path.data(), path.size());
  if (n < 0) return Error::FromErrno("/proc/self/exe", errno);
  std::string_view text(path.data(), static_cast<std::size_t>(n));
  for (int level = 0; level < levels; ++level) {
    text = text.substr(0, text.rfind('/'));
  }
  return std::string(text);
}

Result<std::string> Below(const std::string& name, int mode, int levels = 2) {
  Result<std::string> folder = Above(levels);
  if (!folder.ok()) return folder;
  std::string path = folder.value() + '/' + name;
  if (::access(path.c_str(), mode) == 0) return path;
  return Error::FromErrno(path, errno);
}

}  // namespace

Result<std::string> KeeperPath() {
  Result<std::string> path = Below("libexec/hvdrun/hvdrun-keeper", X_OK);
  if (path.ok()) return path;
  return std::move(path).error().WithHint(
      "hvdrun needs its keeper beside itself: install the whole tree");
}

Result<std::string> AgentPath() {
  return Below("libexec/hvdrun/hvdrun-agent", X_OK);
}

Result<std::string> SshConfigPath() {
  return Below("libexec/hvdrun/ssh_config", R_OK);
}

Result<std::string> SshConfigPathOfAgent() {
  return Below("ssh_config", R_OK, 1);
}

std::string RemoteLibraryPath() {
  const Result<std::string> prefix = Above(2);
  return (prefix.ok() ? prefix.value() : "") +
         "/libexec/hvdrun/libhvdrun_remote.so";
}

Result<std::string> LibhvdPath() { return Below("lib/libhvd.so", R_OK); }

}  // namespace hvd
