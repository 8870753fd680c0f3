// ElasticDriver: decides what a job does next.
//
// A pure state machine: no I/O, no thread, no clock of its own. Feed it events
// with the time they happened; carry out the actions it returns, in order.
//
// A static job has one world of exactly `workers` workers, and the first
// failure ends it. An elastic one goes from world to world: after every event
// Reconcile() compares what there is with what should be, so that nothing hangs
// on an event that came early, late or twice. docs/design/driver.md has states,
// rules and invariants.
//
// Not thread-safe: call from the loop thread only.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "discovery/hosts.h"
#include "driver/driver_options.h"
#include "driver/events.h"
#include "driver/outcome.h"
#include "driver/slot_ledger.h"
#include "driver/worker_registry.h"
#include "rendezvous/world.h"

namespace hvd {

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

  // All that decides what comes next, times relative to now, as text: equal for
  // states that behave alike.
  std::string Describe() const;

 private:
  enum class State {
    kWaitingForSlots,
    kRunning,     // from the first start to the first cause to stop
    kRestarting,  // every worker is told to stop; then slots are waited for
    kStopping,    // every worker is told to stop; the outcome is decided
    kEnded,
  };
  // What the one wait in progress is for.
  enum class Wait { kNothing, kSlots, kMembers, kMinimum, kCulprit, kEnds };

  // Why the next world comes; kept until it does.
  struct Why {
    std::string text;
    bool failure = false;
    Instant since;
  };

  // Why the job ends; the first one counts.
  struct Cause {
    Verdict verdict = Verdict::kLauncherFailed;
    int signo = 0;
    std::string reason;
    std::string hint;
    std::optional<WorkerEnd> worker;
  };

  // elastic_driver.cc: events, and the way to the end.
  void Apply(const HostsDiscovered& event);
  void Apply(const DiscoveryFailed& event);
  void Apply(const WorkerStarted& event);
  void Apply(const WorkerStartFailed& event);
  void Apply(const WorkerReady& event);
  void Apply(const WorkerHeard& event);
  void Apply(const WorkerBlames& event);
  void Apply(const WorkerMisplaced& event);
  void Apply(const WorkerStopped& event);
  void Apply(const WorkerExited& event);
  void Apply(const HostLost& event);
  void Apply(const SignalReceived& event);
  void Apply(const LauncherLost& event);
  void Apply(const Tick& event);
  void Decide(Cause cause);
  void BeginStop(Cause cause, int first_signal);
  void StopOne(Worker& worker, int first_signal);
  void KillAll();
  void EndIfAllEnded();
  void End();

  // lost_host.cc
  void LoseWorker(Worker& worker, const std::string& reason);
  void Unlist(const std::string& host);

  // static_job.cc: the one world of a static job.
  void OnStaticExit(Worker& worker);
  const Worker& CulpritOf(const Worker& failed) const;
  void EndByFailureOf(const Worker& worker);
  void CheckStaticJoins();

  // elastic_reset.cc and elastic_failure.cc: from world to world.
  void Reconcile();
  void StartWorldIfSlots();
  void Publish(const std::vector<LaunchId>& launches);
  bool EndsByResetLimit();
  void StopUnwantedNewcomers();
  void StopLateLeavers();
  void StartMissing();
  void PublishIfDue();
  std::vector<LaunchId> NextMembers();
  int CountForMinimum();
  std::optional<Why> WhyNow(const std::vector<LaunchId>& next);
  std::optional<Why> WhyBroken() const;
  Instant CauseShownBy() const;
  bool IsMissed() const;
  void SetWhy(const std::string& text, bool failure);
  void WaitForMinimum();
  int CanBeUsed() const;
  void OnAsked(Worker& worker, Epoch after);
  void AwaitMembers();
  void CheckFormed();
  void CondemnStragglers(const std::string& how);
  void CondemnSilent();
  std::optional<Instant> SilentFrom(const Worker& worker) const;
  void Condemn(Worker& worker, const std::string& how);
  void OnElasticExit(Worker& worker);
  void TellOfLoss(const Worker& worker, const std::string& how);
  void OnFailure(Worker& worker, const std::string& how);
  bool EndsByLimit(const WorkerId& slot, int times);
  void EndIfDone();
  bool IsListed(const WorkerId& slot) const;
  int Most() const;
  std::optional<Instant> NextReconcile() const;
  std::optional<Instant> NextUsable() const;

  // restart_mode.cc: from world to world by starting anew.
  void RestartIfNeeded();
  void ContinueRestart();

  // driver_wait.cc: time.
  void BeginWait(Wait wait, Duration limit);
  void EndWait();
  void CheckDeadlines();
  void OnWaitOver();
  void OnSlotsMissing();
  void OnMembersMissing();
  void OnMinimumMissing();
  void SayIfWaitingLong();
  std::string WaitText() const;
  std::string MembersText() const;
  WorkerRegistry::Test NotHere() const;
  int SlotsNeeded() const;
  Duration SlotsLimit() const;
  std::string SlotsFlag() const;
  std::string SlotsText() const;
  Duration MembersLimit() const;
  std::string MembersFlag() const;
  void SkipTimeAsleep(Instant now);
  Moment MomentOf(Instant then) const;
  Duration SinceBirth() const;
  void SayLine(std::string text) {
    actions_.emplace_back(Say{std::move(text)});
  }

  // Workers ask for their next world; else they are started again for it.
  bool Keeps() const {
    return options_.mode == ElasticMode::kKeep ||
           (options_.mode == ElasticMode::kByContact && anyone_spoke_);
  }

  DriverOptions options_;
  State state_ = State::kWaitingForSlots;
  HostList hosts_;                       // as last discovered, oldest first
  std::vector<std::string> host_order_;  // as first listed
  std::unordered_map<std::string, int> listed_;  // slots of each host of hosts_
  SlotLedger ledger_;
  WorkerRegistry registry_;
  Epoch epoch_{};
  bool formed_ = false;  // every member of the world has come to it
  bool proven_ = false;  // some world was formed
  bool anyone_spoke_ = false;
  int restarts_ = 0;                   // of all workers together
  Instant started_;                    // the workers of the world, all together
  std::optional<Instant> restart_at_;  // unless they speak before
  std::deque<Instant> failures_;       // within the restart window
  int failure_count_ = 0;
  std::optional<Cause> last_failure_;     // of a worker
  std::optional<LaunchId> first_failed_;  // static; whom it blames still runs
  std::optional<Why> why_;
  std::optional<Instant> first_joiner_;  // since when a newcomer is ready
  std::optional<Instant>
      first_broken_;  // since when a member wants another world
  std::vector<Reset> resets_;
  std::optional<Cause> cause_;
  int stop_signal_ = 0;
  std::optional<Instant> last_interrupt_;
  Timeline timeline_;

  Instant born_;
  Instant now_;  // of the event being applied, or of the last one
  std::optional<Instant> job_deadline_;
  Wait wait_ = Wait::kNothing;
  std::optional<Instant> wait_deadline_;
  std::optional<Instant> next_note_;

  std::vector<Action> actions_;  // of the event being applied
};

}  // namespace hvd
