// What happens to a job, and what its driver wants done about it.
//
// Plain data. cmd/run_job makes events and carries out actions, in order; their
// text form is driver/explain.h.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/process.h"
#include "base/result.h"
#include "discovery/hosts.h"
#include "driver/outcome.h"
#include "rendezvous/world.h"

namespace hvd {

// Events.

// All hosts there are now, in the order that decides ranks.
struct HostsDiscovered {
  HostList hosts;
};
struct WorkerStarted {
  LaunchId launch{};
  pid_t pid = 0;
};
// kNotFound: no such command; kInvalidArgument: it can't be run; others: the
// launcher's own failure.
struct WorkerStartFailed {
  LaunchId launch{};
  Error error;
};
// The worker asked for a world newer than `after`; 0: it has had none yet.
struct WorkerReady {
  WorkerId worker;
  Epoch after{};
};
// The worker is there, and has begun that many collectives of that world. It
// says so again and again, whatever its program does.
struct WorkerHeard {
  WorkerId worker;
  Epoch epoch{};
  std::uint64_t operations = 0;
};
// The worker's collectives of that world ended because `rank` left it or died,
// the worker says. The worker's own end, if it comes, is a consequence.
struct WorkerBlames {
  WorkerId worker;
  Epoch epoch{};
  int rank = 0;
};
// The worker, which is in no world yet, was told its place when it was started,
// and there will be no world with that place.
struct WorkerMisplaced {
  WorkerId worker;
};
// The worker's process has been stopped (SIGSTOP) for --worker-timeout.
struct WorkerStopped {
  LaunchId launch{};
};
struct WorkerExited {
  LaunchId launch{};
  ExitStatus status;
};
// The host is off, cut off or out of order: nobody will hear how its workers
// ended, and none can be started there until it is discovered again.
struct HostLost {
  std::string host;
  Error error;
};
// There will never be a list of hosts.
struct DiscoveryFailed {
  Error error;
};
// hvdrun itself got INT, TERM or HUP. Signals that are only forwarded to the
// workers (USR1, USR2) or stop the job (TSTP, CONT) are not the driver's.
struct SignalReceived {
  int signo = 0;
};
// No more events come from the launcher; every worker is being stopped.
struct LauncherLost {
  Error error;
};
// The time that NextDeadline() asked for has come.
struct Tick {};

using Event =
    std::variant<HostsDiscovered, DiscoveryFailed, WorkerStarted,
                 WorkerStartFailed, WorkerReady, WorkerHeard, WorkerBlames,
                 WorkerMisplaced, WorkerStopped, WorkerExited, HostLost,
                 SignalReceived, LauncherLost, Tick>;

// Actions.

struct PublishWorld {
  World world;
};
// One WorkerStarted or WorkerStartFailed answers it. A worker that is no member
// of the world yet gets the rank that it would have if it joined now.
struct StartWorker {
  LaunchId launch{};
  WorkerId worker;
  int rank = 0;
  int restarts = 0;  // how often all workers were started again before
};
// Only for a launch that WorkerStarted has answered. Again with SIGKILL: skip
// the rest of the ladder.
struct StopWorker {
  LaunchId launch{};
  int first_signal = 0;
  Duration grace{0};
};
// Tells the members of `epoch` that a rank is gone.
struct NotifyLoss {
  Epoch epoch{};
  int rank = 0;
  std::string text;  // "rank 2 was killed by SIGKILL"
  // Its host went without a word: nobody else can notice.
  bool silent = false;
};
// One line for the user, on stderr.
struct Say {
  std::string text;
};
// The last action of a job.
struct EndJob {
  Outcome outcome;
};

using Action = std::variant<PublishWorld, StartWorker, StopWorker, NotifyLoss,
                            Say, EndJob>;

}  // namespace hvd
