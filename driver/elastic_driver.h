// ElasticDriver: decides what a job does next.
//
// A pure state machine: no I/O, no thread, no clock of its own. Feed it events
// with the time they happened; carry out the actions it returns, in order.
// Today it knows static jobs: one world of exactly `workers` workers, and the
// first failure ends the job. docs/design/driver.md has states and invariants.
//
// Not thread-safe: call from the loop thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "discovery/hosts.h"
#include "driver/events.h"
#include "driver/outcome.h"
#include "driver/worker_registry.h"
#include "rendezvous/world.h"

namespace hvd {

struct DriverOptions {
  int workers = 1;                 // -np; exactly as many are started
  Duration start_timeout{30'000};  // Horovod: HOROVOD_START_TIMEOUT, 30 s
  std::optional<Duration> job_timeout = std::nullopt;  // --timeout
  Duration stop_grace{10'000};                         // --stop-grace-secs
};

class ElasticDriver {
 public:
  ElasticDriver(const DriverOptions& options, Instant now);

  // Applies `event`, which happened at `now`. Never fails: a failure of the job
  // is an EndJob. After EndJob every event is ignored.
  std::vector<Action> On(const Event& event, Instant now);

  // When On(Tick{}, t) must be called if nothing happens first; nullopt: never.
  // While anything is waited for it is never more than a second away, because
  // the driver tells by the gaps that the program did not run (Ctrl-Z, a
  // suspended machine): such time counts for no deadline.
  std::optional<Instant> NextDeadline() const;

  bool ended() const { return state_ == State::kEnded; }

 private:
  enum class State {
    kWaitingForSlots,
    kRunning,   // from the first start to the first cause to stop
    kStopping,  // every worker is told to stop; the outcome is decided
    kEnded,
  };

  // Why the job ends; the first one counts.
  struct Cause {
    Verdict verdict = Verdict::kLauncherFailed;
    int signo = 0;
    std::string reason;
    std::string hint;
    std::optional<int> rank;
  };

  void Apply(const HostsDiscovered& event);
  void Apply(const WorkerStarted& event);
  void Apply(const WorkerStartFailed& event);
  void Apply(const WorkerReady& event);
  void Apply(const WorkerExited& event);
  void Apply(const SignalReceived& event);
  void Apply(const LauncherLost& event);
  void Apply(const Tick& event);

  void StartWorldIfSlots();
  void CheckJoins();
  void Decide(Cause cause);
  void BeginStop(Cause cause, int first_signal);
  void StopOne(WorkerEnd& worker);
  void KillAll();
  void EndIfAllEnded();
  void End();

  void BeginWait(Duration limit);
  void EndWait();
  void CheckDeadlines();
  void OnWaitOver();
  void SayIfWaitingLong();
  std::string WaitText() const;
  void SkipTimeAsleep(Instant now);
  Duration SinceBirth() const;

  DriverOptions options_;
  State state_ = State::kWaitingForSlots;
  HostList hosts_;  // as last discovered
  WorkerRegistry registry_;
  Epoch epoch_{};
  std::optional<Cause> cause_;
  int stop_signal_ = 0;
  std::optional<Instant> last_interrupt_;
  Timeline timeline_;

  Instant born_;
  Instant now_;  // of the event being applied, or of the last one
  std::optional<Instant> job_deadline_;
  // The wait in progress: for slots, for joins or for workers to end.
  std::optional<Instant> wait_deadline_;
  std::optional<Instant> next_note_;

  std::vector<Action> actions_;  // of the event being applied
};

}  // namespace hvd
