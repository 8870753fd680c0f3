#include "driver/elastic_driver.h"

#include <csignal>
#include <unordered_set>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/seconds.h"
#include "driver/slot_assignment.h"
#include "driver/texts.h"

namespace hvd {
namespace {

// GNU timeout and some shells deliver one Ctrl-C twice, microseconds apart.
constexpr Duration kSameInterrupt{100};

Verdict VerdictOfStartFailure(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return Verdict::kNotFound;
    case ErrorCode::kInvalidArgument:
      return Verdict::kCannotRun;
    case ErrorCode::kUnavailable:
    case ErrorCode::kTimeout:
    case ErrorCode::kCancelled:
    case ErrorCode::kInternal:
      return Verdict::kLauncherFailed;
  }
  return Verdict::kLauncherFailed;
}

bool IsRunning(const Worker& worker) { return worker.IsRunning(); }
bool HasJoined(const Worker& worker) {
  return worker.end.joined_at.has_value();
}

}  // namespace

ElasticDriver::ElasticDriver(const DriverOptions& options, Instant now)
    : options_(options), ledger_(options.ledger), born_(now), now_(now) {
  if (options_.job_timeout) job_deadline_ = now + *options_.job_timeout;
  BeginWait(Wait::kSlots, options_.start_timeout);
}

std::vector<Action> ElasticDriver::On(const Event& event, Instant now) {
  if (state_ == State::kEnded) return {};
  SkipTimeAsleep(now);
  now_ = now;
  std::visit([this](const auto& e) { Apply(e); }, event);
  CheckDeadlines();
  Reconcile();
  SayIfWaitingLong();
  return std::exchange(actions_, {});
}

void ElasticDriver::Apply(const HostsDiscovered& event) {
  // Nobody has a rank yet: which host was proved first does not matter.
  if (epoch_ == Epoch{}) host_order_.clear();
  std::unordered_set<std::string> known(host_order_.begin(), host_order_.end());
  for (const HostSlots& host : event.hosts) {
    if (!listed_.contains(host.host)) ledger_.Forgive(host.host);
    if (known.insert(host.host).second) host_order_.push_back(host.host);
  }
  hosts_ = InFirstListedOrder(event.hosts, host_order_);
  listed_.clear();
  for (const HostSlots& host : hosts_) listed_[host.host] = host.slots;
  for (Worker* worker : registry_.All([](const Worker&) { return true; })) {
    worker->listed = IsListed(worker->end.worker);
  }
  if (state_ == State::kWaitingForSlots) StartWorldIfSlots();
}

void ElasticDriver::Apply(const DiscoveryFailed& event) {
  BeginStop({Verdict::kLauncherFailed, 0, event.error.message(),
             event.error.hint(), std::nullopt},
            SIGTERM);
}

void ElasticDriver::Apply(const WorkerStarted& event) {
  Worker* worker = registry_.Find(event.launch);
  if (worker == nullptr || worker->end.pid) return;
  worker->end.pid = event.pid;
  worker->end.started_at = SinceBirth();
  const bool all = registry_.AllMembers(
      [](const Worker& member) { return member.end.pid.has_value(); });
  if (all && !timeline_.all_started) timeline_.all_started = SinceBirth();
  if (state_ == State::kStopping || state_ == State::kRestarting) {
    StopOne(*worker, stop_signal_);
  }
}

void ElasticDriver::Apply(const WorkerStartFailed& event) {
  Worker* worker = registry_.Find(event.launch);
  if (worker == nullptr || worker->HasEnded()) return;
  worker->end.start_error = event.error;
  worker->end.ended_at = SinceBirth();
  const Verdict verdict = VerdictOfStartFailure(event.error.code());
  if (state_ == State::kRestarting && verdict == Verdict::kLauncherFailed) {
    return ContinueRestart();  // it would have been stopped
  }
  if (options_.elastic && verdict == Verdict::kLauncherFailed &&
      state_ == State::kRunning) {
    OnFailure(*worker, "could not be started: " + event.error.message());
    return;
  }
  // Usually true of every rank alike: the first to fail speaks for all.
  BeginStop(
      {verdict, 0, event.error.message(), event.error.hint(), worker->end},
      SIGTERM);
}

void ElasticDriver::Apply(const WorkerReady& event) {
  Worker* worker = registry_.FindLive(event.worker);
  if (worker == nullptr || event.after > epoch_) return;
  anyone_spoke_ = true;
  worker->heard_at = now_;
  const bool first = !registry_.AnyMember(HasJoined);
  if (!worker->end.joined_at) worker->end.joined_at = SinceBirth();
  if (options_.elastic) return OnAsked(*worker, event.after);
  // A static job has one world: whoever asks for a newer one waits in vain,
  // and the loss that made it ask is ending the job already.
  if (event.after != Epoch{} || state_ != State::kRunning) return;
  if (first) BeginWait(Wait::kMembers, options_.start_timeout);
  CheckStaticJoins();
}

void ElasticDriver::Apply(const WorkerHeard& event) {
  Worker* worker = registry_.FindLive(event.worker);
  if (worker == nullptr || event.epoch > epoch_) return;
  worker->heard_at = now_;
  worker->says_so = true;
  worker->operations = event.operations;
}

void ElasticDriver::Apply(const WorkerBlames& event) {
  Worker* worker = registry_.FindLive(event.worker);
  if (worker == nullptr || event.epoch != epoch_ || event.rank < 0 ||
      event.rank >= static_cast<int>(registry_.members().size())) {
    return;
  }
  worker->blames = event.rank;
}

// It is started again, for the world that there will be.
void ElasticDriver::Apply(const WorkerMisplaced& event) {
  Worker* worker = registry_.FindLive(event.worker);
  if (worker == nullptr || state_ != State::kRunning || !worker->IsSeated() ||
      worker->held != Epoch{}) {
    return;
  }
  worker->leaving = true;
  SayLine("the newcomer " + ToString(event.worker) +
          " was started for a world that will not be: started again");
  if (worker->IsRunning()) StopOne(*worker, SIGKILL);
}

// In a static job it shows in the others' collectives, which end the job.
void ElasticDriver::Apply(const WorkerStopped& event) {
  Worker* worker = registry_.Find(event.launch);
  if (worker == nullptr || !options_.elastic || !options_.worker_timeout ||
      state_ != State::kRunning || !worker->IsSeated()) {
    return;
  }
  Condemn(*worker, "has been stopped for " +
                       SecondsText(*options_.worker_timeout) +
                       " (--worker-timeout)");
}

void ElasticDriver::Apply(const WorkerExited& event) {
  Worker* worker = registry_.Find(event.launch);
  if (worker == nullptr || worker->HasEnded()) return;
  worker->end.status = event.status;
  worker->end.ended_at = SinceBirth();
  worker->asks = false;
  switch (state_) {
    case State::kRunning:
      if (options_.elastic) {
        OnElasticExit(*worker);
      } else {
        OnStaticExit(*worker);
      }
      break;
    case State::kRestarting:
      ContinueRestart();
      break;
    case State::kWaitingForSlots:
    case State::kStopping:
    case State::kEnded:
      EndIfAllEnded();
      break;
  }
}

void ElasticDriver::Apply(const SignalReceived& event) {
  if (state_ != State::kStopping) {
    if (event.signo == SIGINT) last_interrupt_ = now_;
    const int running = registry_.Count(IsRunning);
    if (running > 0) {
      SayLine("got " + SignalName(event.signo) + ": stopping " +
              CountText(running, "worker") + ", killed after " +
              SecondsText(options_.stop_grace) +
              " (--stop-grace-secs); Ctrl-C kills at once");
    }
    BeginStop({Verdict::kSignalled, event.signo,
               "hvdrun got " + SignalName(event.signo), "", std::nullopt},
              event.signo);
    return;
  }
  if (event.signo != SIGINT) return;
  const bool same = last_interrupt_ && now_ - *last_interrupt_ < kSameInterrupt;
  last_interrupt_ = now_;
  if (!same && stop_signal_ != SIGKILL) KillAll();
}

void ElasticDriver::Apply(const LauncherLost& event) {
  if (state_ != State::kStopping) {
    Decide({Verdict::kLauncherFailed, 0, event.error.message(),
            event.error.hint(), std::nullopt});
  }
  End();
}

void ElasticDriver::Apply(const Tick&) {}

void ElasticDriver::Decide(Cause cause) {
  HVD_CHECK(state_ != State::kStopping && state_ != State::kEnded);
  state_ = State::kStopping;
  if (cause.verdict != Verdict::kSucceeded) timeline_.stopping = SinceBirth();
  cause_ = std::move(cause);
  job_deadline_.reset();
}

void ElasticDriver::BeginStop(Cause cause, int first_signal) {
  if (state_ != State::kStopping && state_ != State::kEnded) {
    Decide(std::move(cause));
    stop_signal_ = first_signal;
    BeginWait(Wait::kEnds, options_.stop_grace + kGiveUpAfterKill);
    for (Worker* worker : registry_.All(IsRunning)) {
      StopOne(*worker, first_signal);
    }
  }
  EndIfAllEnded();
}

void ElasticDriver::StopOne(Worker& worker, int first_signal) {
  worker.end.told_to_stop = true;
  actions_.emplace_back(
      StopWorker{worker.end.launch, first_signal,
                 first_signal == SIGKILL ? Duration{0} : options_.stop_grace});
}

void ElasticDriver::KillAll() {
  stop_signal_ = SIGKILL;
  BeginWait(Wait::kEnds, kGiveUpAfterKill);
  SayLine("got SIGINT: killing " + RankText(registry_.Ranks(IsRunning)));
  for (Worker* worker : registry_.All(IsRunning)) StopOne(*worker, SIGKILL);
}

void ElasticDriver::EndIfAllEnded() {
  if (state_ == State::kEnded) return;
  const bool alive =
      registry_.Any([](const Worker& worker) { return !worker.HasEnded(); });
  if (alive) return;
  if (state_ == State::kRunning) Decide({Verdict::kSucceeded, 0, "", "", {}});
  End();
}

void ElasticDriver::End() {
  HVD_CHECK(state_ == State::kStopping);
  state_ = State::kEnded;
  timeline_.ended = SinceBirth();
  Outcome outcome;
  outcome.verdict = cause_->verdict;
  outcome.signo = cause_->signo;
  outcome.reason = cause_->reason;
  outcome.hint = cause_->hint;
  outcome.first_failed = cause_->worker;
  outcome.epoch = epoch_;
  for (const Worker* member : registry_.members()) {
    outcome.workers.push_back(member->end);
  }
  outcome.resets = resets_;
  outcome.failures = failure_count_;
  outcome.timeline = timeline_;
  actions_.emplace_back(EndJob{std::move(outcome)});
}

}  // namespace hvd
