// Outcome: how a job ended and why, rank by rank.
//
// Plain data: the driver makes it, cmd/ turns it into an exit code, a report on
// stderr and JSON.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/process.h"
#include "base/result.h"
#include "rendezvous/world.h"

namespace hvd {

// What ended the job: the first cause in time, one for each rule of the exit
// code table (cmd/exit_code.h).
enum class Verdict {
  kSucceeded,      // every worker exited with 0, none was told to stop
  kSignalled,      // hvdrun got INT, TERM or HUP
  kTimedOut,       // --timeout
  kNotFound,       // the command does not exist
  kCannotRun,      // the command exists and can't be run
  kWorkerFailed,   // a worker exited with another code or was killed
  kLauncherFailed  // anything else: no slots, no join, a lost launcher, our bug
};

// One life of one worker. Times are since the driver was made.
struct WorkerEnd {
  int rank = 0;  // in the last world it was in
  WorkerId worker;
  LaunchId launch{};
  std::optional<pid_t> pid;          // nullopt: never started
  std::optional<Error> start_error;  // why not, if the launcher said so
  std::optional<ExitStatus> status;  // nullopt: never started, or never ended
  bool host_lost = false;            // before it ended, or with it: unknown
  bool told_to_stop = false;         // by us, before it ended: a victim
  std::optional<Duration> started_at;
  std::optional<Duration> joined_at;
  std::optional<Duration> ended_at;
};

// When each phase was over; nullopt: never.
struct Timeline {
  std::optional<Duration> published;    // all slots were there
  std::optional<Duration> all_started;  // every worker process runs
  std::optional<Duration> all_joined;   // every worker asked for its world
  std::optional<Duration> stopping;     // the cause was seen
  Duration ended{0};
};

// Since the driver was made. Finer than Duration, as a reset takes a few
// milliseconds.
using Moment = std::chrono::microseconds;

// One change from a world to the next.
struct Reset {
  Epoch epoch{};    // of the new world
  std::string why;  // "rank 2 on a was killed by SIGKILL"
  int size_before = 0;
  int size_after = 0;
  Moment seen{0};                // the cause of it
  Moment published{0};           // the new world was decided
  std::optional<Moment> formed;  // all its members had come
};

struct Outcome {
  Verdict verdict = Verdict::kLauncherFailed;
  int signo = 0;  // of kSignalled
  // One clause, e.g. "rank 2 on a was killed by SIGKILL"; empty on success.
  std::string reason;
  std::string hint;                       // what to do about it; often empty
  std::optional<WorkerEnd> first_failed;  // the cause, where it was a worker
  Epoch epoch{};                          // 0: no world was ever published
  std::vector<WorkerEnd> workers;         // of the last world, in rank order
  std::vector<Reset> resets;              // in time
  int failures = 0;  // of workers, those that the job survived included
  Timeline timeline;
};

}  // namespace hvd
