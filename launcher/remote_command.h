// RemoteCommand: the words that start an agent on another host.
//
// There are two layers. Here: ssh, or what the user gives in its place, with
// its options, the host, and one last word. There: that word, which any login
// shell reads the same way; it gives a line to /bin/sh, and that line ends as
// the agent itself. No secret is in either: `ps` shows them to everybody.
//
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "launcher/bootstrap.h"

namespace hvd {

// How hosts are reached.
struct RemoteShell {
  // With the shape of ssh: COMMAND [user@]host word. Empty: ssh itself, to
  // which all below belongs, but for the port.
  std::vector<std::string> command = {};
  std::optional<std::uint16_t> port = {};  // of hosts that name none
  std::string identity_file = {};          // empty: what ssh chooses
  std::vector<std::string> ssh_args = {};  // the user's own
  // -F: reads the user's configuration, then says what hvdrun would like
  // (ssh_config in this folder). Empty: none.
  std::string ssh_config = {};
  Duration connect_timeout{10'000};

  bool is_ssh() const { return command.empty(); }
  bool operator==(const RemoteShell&) const = default;
};

// Where the agent program is on a host.
struct AgentPlace {
  enum class Kind {
    kHere,     // the path it has on this machine; else the PATH there
    kGiven,    // at this path, or of this name in the PATH there
    kInstall,  // nowhere: its bytes come over the connection
  };
  Kind kind = Kind::kHere;
  std::string path = {};  // of the first two
  std::size_t bytes = 0;  // of kInstall
  bool operator==(const AgentPlace&) const = default;
};

// What exits with these is ours, before an agent runs.
constexpr int kExitNoFolder = 121;  // no folder in which a program may be run
constexpr int kExitCutShort = 122;  // not all of the program came

// The last word: for the login shell there.
std::string RemoteLine(const AgentPlace& place);

// All words, the program first.
std::vector<std::string> RemoteArgv(const RemoteShell& shell,
                                    const RemoteHost& host,
                                    const std::string& line);

// For a message: "hvdrun-agent at /opt/hvdrun/libexec/hvdrun/hvdrun-agent or in
// the PATH there".
std::string Describe(const AgentPlace& place);

}  // namespace hvd
