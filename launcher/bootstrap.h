// Bootstrap: how the agent program comes to run on another host.
//
// The interface; RemoteBootstrap is the real one, through ssh or what the user
// gives in its place. One call of Start is one try: it does not try again and
// does not choose when to (agent_starts.h does).
//
// Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "discovery/hosts.h"

namespace hvd {

struct RemoteHost {
  std::string host;
  Login login = {};
  bool operator==(const RemoteHost&) const = default;
};

// What a host has to get through, in this order. Up to kAgentStarts one
// connection is being made, and a bootstrap tells how far it came; the others
// are between hvdrun and the agent.
enum class StartPhase {
  kResolve,
  kConnect,
  kAuthenticate,
  kAgentStarts,
  kAgentAnswers,
  kInterfaceProof,
};

// "connect", "agent starts".
std::string_view PhaseName(StartPhase phase);

// Whether the same again may go better: a name that is not known yet, a sshd
// that is busy; but not a login that is refused.
enum class Again { kWorthIt, kHopeless };

struct BootstrapEnd {
  StartPhase phase = StartPhase::kConnect;  // in which it ended
  // "host b: connect: ssh: connect to host b port 22: Connection refused"; the
  // hint has the command to try by hand. For the user, as it is.
  Error error;
  // The last of that alone: "Connection refused".
  std::string reason;
  Again again = Again::kWorthIt;
  // What was said on the way adds nothing to the error.
  bool explained = true;
};

// Called on the loop, never from inside Start, and not after the attempt's
// destruction; each may destroy the attempt. One that is empty is not called.
struct BootstrapHandlers {
  // A line of what ssh, the login shell and later the agent's stderr say: fit
  // to be printed, without its end.
  std::function<void(std::string_view line)> on_chatter = {};
  // Our words run on the host now, and start the agent.
  std::function<void()> on_login = {};
  // The agent has greeted and was given the payload. It ends with the attempt.
  std::function<void(const std::string& program_version)> on_agent = {};
  // All that was told is void: whoever was starting the agent is lost, and it
  // is being started from another place. It does not destroy the attempt.
  std::function<void()> on_restart = {};
  // The connection is gone, before or after on_agent. Once, the last call.
  std::function<void(BootstrapEnd)> on_end = {};
};

// A connection that is being made, or has an agent at its other end. Destroying
// it kills the command that makes it, with all of its session, without waiting
// for that.
class BootstrapAttempt {
 public:
  virtual ~BootstrapAttempt() = default;
};

// One line without its end, at most kMaxAgentPayload bytes (agent_greeting.h),
// for the agent's stdin and nobody else. Asked for when there is somebody to
// give it to; what was given before is good for nothing then.
using MakePayload = std::function<std::string()>;

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  // Whether one that is started now would not have to wait for its turn. There
  // may be room again when an attempt has its agent or is gone, and when
  // whoever owns this is told so.
  virtual bool HasRoom() const { return true; }

  // What cannot be tried at all is told by on_end as well.
  virtual std::unique_ptr<BootstrapAttempt> Start(
      const RemoteHost& host, MakePayload make_payload,
      BootstrapHandlers handlers) = 0;
};

}  // namespace hvd
