#include "driver/elastic_driver.h"

#include <algorithm>
#include <csignal>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/seconds.h"
#include "driver/slot_assignment.h"

namespace hvd {
namespace {

using namespace std::chrono_literals;

// A wait that lasts this long is explained, and again from time to time.
constexpr Duration kFirstNote{5'000};
constexpr Duration kNoteEvery{10'000};
// While anything is waited for we are called at least this often ...
constexpr Duration kHeartbeat{1'000};
// ... so a gap this much longer means that the program did not run.
constexpr Duration kAsleep{2'000};
// GNU timeout and some shells deliver one Ctrl-C twice, microseconds apart.
constexpr Duration kSameInterrupt{100};
// How long after its SIGKILL a worker's end may take to be seen before we leave
// without it. Longer than the launcher's own patience, which speaks first.
constexpr Duration kGiveUpAfterKill{10'000};

std::string CountText(int count, const std::string& noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string HostsText(const HostList& hosts) {
  std::string text;
  for (const HostSlots& host : hosts) {
    text += (text.empty() ? "" : " ") + ToString(host);
  }
  return text.empty() ? "no host" : text;
}

std::string EndText(const ExitStatus& status) {
  return status.signal != 0 ? "was killed by " + SignalName(status.signal)
                            : "exited with code " + std::to_string(status.code);
}

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

bool EndedWithoutJoining(const WorkerEnd& worker) {
  return !worker.joined_at && WorkerRegistry::HasEnded(worker);
}

bool NotJoined(const WorkerEnd& worker) { return !worker.joined_at; }

}  // namespace

ElasticDriver::ElasticDriver(const DriverOptions& options, Instant now)
    : options_(options), born_(now), now_(now) {
  if (options_.job_timeout) job_deadline_ = now + *options_.job_timeout;
  BeginWait(options_.start_timeout);
}

std::vector<Action> ElasticDriver::On(const Event& event, Instant now) {
  if (state_ == State::kEnded) return {};
  SkipTimeAsleep(now);
  now_ = now;
  std::visit([this](const auto& e) { Apply(e); }, event);
  CheckDeadlines();
  SayIfWaitingLong();
  return std::exchange(actions_, {});
}

std::optional<Instant> ElasticDriver::NextDeadline() const {
  if (state_ == State::kEnded) return std::nullopt;
  std::optional<Instant> earliest;
  for (const auto& deadline : {job_deadline_, wait_deadline_, next_note_}) {
    if (deadline && (!earliest || *deadline < *earliest)) earliest = deadline;
  }
  if (!earliest) return std::nullopt;
  return std::min(*earliest, now_ + kHeartbeat);
}

void ElasticDriver::Apply(const HostsDiscovered& event) {
  hosts_ = event.hosts;
  if (state_ == State::kWaitingForSlots) StartWorldIfSlots();
}

void ElasticDriver::Apply(const WorkerStarted& event) {
  WorkerEnd* worker = registry_.Find(event.launch);
  if (worker == nullptr || worker->pid) return;
  worker->pid = event.pid;
  worker->started_at = SinceBirth();
  if (registry_.AllStarted()) timeline_.all_started = SinceBirth();
  if (state_ == State::kStopping) StopOne(*worker);
}

void ElasticDriver::Apply(const WorkerStartFailed& event) {
  WorkerEnd* worker = registry_.Find(event.launch);
  if (worker == nullptr || WorkerRegistry::HasEnded(*worker)) return;
  worker->start_error = event.error;
  worker->ended_at = SinceBirth();
  // Usually true of every rank alike: the first to fail speaks for all.
  BeginStop({VerdictOfStartFailure(event.error.code()), 0,
             event.error.message(), event.error.hint(), worker->rank},
            SIGTERM);
}

void ElasticDriver::Apply(const WorkerReady& event) {
  WorkerEnd* worker = registry_.Find(event.worker);
  // A static job has one world: whoever asks for a newer one waits in vain,
  // and the loss that made it ask is ending the job already.
  if (worker == nullptr || event.after != Epoch{} || worker->joined_at) return;
  const bool first = !registry_.AnyJoined();
  worker->joined_at = SinceBirth();
  if (state_ != State::kRunning) return;
  if (first) BeginWait(options_.start_timeout);
  CheckJoins();
}

void ElasticDriver::Apply(const WorkerExited& event) {
  WorkerEnd* worker = registry_.Find(event.launch);
  if (worker == nullptr || WorkerRegistry::HasEnded(*worker)) return;
  worker->status = event.status;
  worker->ended_at = SinceBirth();
  if (state_ == State::kRunning && !event.status.success()) {
    const std::string how = EndText(event.status);
    const std::string rank = "rank " + std::to_string(worker->rank);
    actions_.emplace_back(NotifyLoss{epoch_, worker->rank, rank + ' ' + how});
    BeginStop(
        {Verdict::kWorkerFailed, 0,
         rank + " on " + worker->worker.host + ' ' + how, "", worker->rank},
        SIGTERM);
    return;
  }
  if (state_ == State::kRunning) CheckJoins();
  EndIfAllEnded();
}

void ElasticDriver::Apply(const SignalReceived& event) {
  if (state_ != State::kStopping) {
    if (event.signo == SIGINT) last_interrupt_ = now_;
    const int running =
        static_cast<int>(registry_.Ranks(WorkerRegistry::IsRunning).size());
    if (running > 0) {
      actions_.emplace_back(Say{"got " + SignalName(event.signo) +
                                ": stopping " + CountText(running, "worker") +
                                ", killed after " +
                                SecondsText(options_.stop_grace) +
                                " (--stop-grace-secs); Ctrl-C kills at once"});
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

void ElasticDriver::StartWorldIfSlots() {
  auto places = AssignSlots(hosts_, options_.workers);
  if (!places) return;
  EndWait();
  state_ = State::kRunning;
  epoch_ = Epoch{static_cast<std::uint64_t>(epoch_) + 1};
  const World world{epoch_, std::move(*places)};
  registry_.Reset(world);
  timeline_.published = SinceBirth();
  actions_.emplace_back(PublishWorld{world});
  for (const WorkerEnd& worker : registry_.workers()) {
    actions_.emplace_back(
        StartWorker{worker.launch, worker.worker, worker.rank});
  }
}

void ElasticDriver::Decide(Cause cause) {
  HVD_CHECK(state_ == State::kWaitingForSlots || state_ == State::kRunning);
  state_ = State::kStopping;
  if (cause.verdict != Verdict::kSucceeded) timeline_.stopping = SinceBirth();
  cause_ = std::move(cause);
  job_deadline_.reset();
}

void ElasticDriver::BeginStop(Cause cause, int first_signal) {
  if (state_ == State::kWaitingForSlots || state_ == State::kRunning) {
    Decide(std::move(cause));
    stop_signal_ = first_signal;
    BeginWait(options_.stop_grace + kGiveUpAfterKill);
    for (WorkerEnd& worker : registry_.workers()) {
      if (WorkerRegistry::IsRunning(worker)) StopOne(worker);
    }
  }
  EndIfAllEnded();
}

void ElasticDriver::StopOne(WorkerEnd& worker) {
  worker.told_to_stop = true;
  actions_.emplace_back(
      StopWorker{worker.launch, stop_signal_,
                 stop_signal_ == SIGKILL ? Duration{0} : options_.stop_grace});
}

void ElasticDriver::KillAll() {
  stop_signal_ = SIGKILL;
  BeginWait(kGiveUpAfterKill);
  const auto running = registry_.Ranks(WorkerRegistry::IsRunning);
  actions_.emplace_back(Say{"got SIGINT: killing " + RankText(running)});
  for (WorkerEnd& worker : registry_.workers()) {
    if (WorkerRegistry::IsRunning(worker)) StopOne(worker);
  }
}

// A world exists only when all of its members have joined: one that ended
// without joining keeps the others waiting for ever.
void ElasticDriver::CheckJoins() {
  if (registry_.AllJoined()) {
    if (!timeline_.all_joined) timeline_.all_joined = SinceBirth();
    EndWait();
    return;
  }
  if (!registry_.AnyJoined()) return;
  const auto gone = registry_.Ranks(EndedWithoutJoining);
  if (gone.empty()) return;
  BeginStop({Verdict::kLauncherFailed, 0,
             RankText(gone) + " exited with code 0 without joining the world "
                              "that the others wait for",
             "every worker of the job must call init, or none", gone.front()},
            SIGTERM);
}

void ElasticDriver::EndIfAllEnded() {
  if (state_ == State::kEnded || !registry_.AllEnded()) return;
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
  outcome.first_failed_rank = cause_->rank;
  outcome.epoch = epoch_;
  outcome.workers = registry_.workers();
  outcome.timeline = timeline_;
  actions_.emplace_back(EndJob{std::move(outcome)});
}

void ElasticDriver::CheckDeadlines() {
  if (state_ == State::kEnded) return;
  if (job_deadline_ && now_ >= *job_deadline_) {
    BeginStop({Verdict::kTimedOut, 0,
               "the job was not done after " +
                   SecondsText(*options_.job_timeout) + " (--timeout)",
               "", std::nullopt},
              SIGTERM);
  }
  if (wait_deadline_ && now_ >= *wait_deadline_) OnWaitOver();
}

void ElasticDriver::OnWaitOver() {
  switch (state_) {
    case State::kWaitingForSlots:
      BeginStop({Verdict::kLauncherFailed, 0,
                 std::to_string(TotalSlots(hosts_)) + " of " +
                     CountText(options_.workers, "slot") + " there after " +
                     SecondsText(options_.start_timeout) +
                     " (--start-timeout): " + HostsText(hosts_),
                 "", std::nullopt},
                SIGTERM);
      break;
    case State::kRunning:
      BeginStop(
          {Verdict::kLauncherFailed, 0,
           RankText(registry_.Ranks(NotJoined)) + " did not join within " +
               SecondsText(options_.start_timeout) +
               " after the first that did (--start-timeout)",
           "", std::nullopt},
          SIGTERM);
      break;
    case State::kStopping:
      actions_.emplace_back(
          Say{"giving up on " +
              RankText(registry_.Ranks(WorkerRegistry::IsRunning)) +
              ": still there long after SIGKILL"});
      End();
      break;
    case State::kEnded:
      break;
  }
}

void ElasticDriver::SayIfWaitingLong() {
  if (state_ == State::kEnded || !next_note_ || now_ < *next_note_) return;
  next_note_ = now_ + kNoteEvery;
  actions_.emplace_back(Say{WaitText()});
}

std::string ElasticDriver::WaitText() const {
  const Duration left = std::chrono::duration_cast<Duration>(
      std::max<Instant::duration>(*wait_deadline_ - now_, 0s));
  switch (state_) {
    case State::kWaitingForSlots:
      return "waiting for " + CountText(options_.workers, "slot") + ": " +
             std::to_string(TotalSlots(hosts_)) + " there (" +
             HostsText(hosts_) + "), for " + SecondsText(left) +
             " more (--start-timeout)";
    case State::kRunning:
      return "waiting for " + RankText(registry_.Ranks(NotJoined)) +
             " to join, for " + SecondsText(left) + " more (--start-timeout)";
    case State::kStopping:
      return "waiting for " +
             RankText(registry_.Ranks(WorkerRegistry::IsRunning)) +
             " to end, " +
             (left > kGiveUpAfterKill
                  ? "killed in " + SecondsText(left - kGiveUpAfterKill) +
                        " (--stop-grace-secs)"
                  : "killed already");
    case State::kEnded:
      break;
  }
  return "";
}

void ElasticDriver::BeginWait(Duration limit) {
  wait_deadline_ = now_ + limit;
  next_note_ = now_ + kFirstNote;
}

void ElasticDriver::EndWait() {
  wait_deadline_.reset();
  next_note_.reset();
}

// While something was waited for we asked to be called every kHeartbeat.
void ElasticDriver::SkipTimeAsleep(Instant now) {
  if (!NextDeadline() || now - now_ <= kHeartbeat + kAsleep) return;
  const Instant::duration asleep = now - now_;
  for (auto* deadline : {&job_deadline_, &wait_deadline_, &next_note_}) {
    if (*deadline) **deadline += asleep;
  }
  actions_.emplace_back(
      Say{"hvdrun did not run for " +
          SecondsText(std::chrono::duration_cast<Duration>(asleep)) +
          ": that time counts for no deadline"});
}

Duration ElasticDriver::SinceBirth() const {
  return std::chrono::duration_cast<Duration>(now_ - born_);
}

}  // namespace hvd
