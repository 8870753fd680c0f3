// RemoteFailure: what the end of a connection means.
//
// ssh has one exit status for all that goes wrong before the other side runs
// anything (255) and tells the rest in words; these are the words of OpenSSH 7
// to 9. What the user gives in place of ssh is known by its exit status alone.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "base/process.h"
#include "launcher/bootstrap.h"
#include "launcher/remote_command.h"

namespace hvd {

// How far a connection has come.
enum class Reached { kNothing, kLogin, kAgent };

struct RemoteEnd {
  bool is_ssh = true;
  Reached reached = Reached::kNothing;
  ExitStatus status = {};
  // The last lines of its stdout, then of its stderr.
  std::vector<std::string> said = {};
};

struct RemoteFailure {
  StartPhase phase = StartPhase::kConnect;
  Again again = Again::kWorthIt;
  std::string text =
      {};  // "ssh: connect to host b port 22: Connection refused"
  std::string reason = {};  // "Connection refused"
  std::string remedy = {};  // what to do about it; often empty
  // It says all; else what else was said may help.
  bool explained = true;
};

RemoteFailure JudgeRemoteEnd(const RemoteEnd& end, const AgentPlace& place,
                             const std::string& host);

}  // namespace hvd
