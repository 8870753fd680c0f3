// Time: every wait has a limit, says what it waits for, and does not count the
// time in which the program did not run.
#include <algorithm>
#include <csignal>
#include <utility>

#include "base/seconds.h"
#include "driver/elastic_driver.h"
#include "driver/texts.h"

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

bool IsRunning(const Worker& worker) { return worker.IsRunning(); }

}  // namespace

std::optional<Instant> ElasticDriver::NextDeadline() const {
  if (state_ == State::kEnded) return std::nullopt;
  std::optional<Instant> earliest;
  for (const auto& deadline :
       {job_deadline_, wait_deadline_, next_note_, NextReconcile()}) {
    if (deadline && (!earliest || *deadline < *earliest)) earliest = deadline;
  }
  if (!earliest) return std::nullopt;
  return std::min(*earliest, now_ + kHeartbeat);
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
  switch (wait_) {
    case Wait::kNothing:
      break;
    case Wait::kSlots:
      OnSlotsMissing();
      break;
    case Wait::kMembers:
      OnMembersMissing();
      break;
    case Wait::kMinimum:
      OnMinimumMissing();
      break;
    case Wait::kCulprit:
      EndByFailureOf(*registry_.Find(*first_failed_));
      break;
    case Wait::kEnds:
      SayLine("giving up on " + RankText(registry_.Ranks(IsRunning)) +
              ": still there long after SIGKILL");
      if (state_ == State::kRestarting) {
        Decide({Verdict::kLauncherFailed, 0,
                "a worker outlived its SIGKILL and cannot be started again", "",
                std::nullopt});
      }
      End();
      break;
  }
}

void ElasticDriver::OnSlotsMissing() {
  Cause cause{Verdict::kLauncherFailed, 0,
              SlotsText() + " after " + SecondsText(SlotsLimit()) + " (" +
                  SlotsFlag() + "): " + HostsText(hosts_),
              "", std::nullopt};
  if (last_failure_) {
    cause.verdict = last_failure_->verdict;
    cause.worker = last_failure_->worker;
    cause.reason = last_failure_->reason + ", and " + cause.reason;
  }
  BeginStop(std::move(cause), SIGTERM);
}

void ElasticDriver::OnMembersMissing() {
  const std::vector<int> missing = registry_.Ranks(NotHere());
  const Duration limit = MembersLimit();
  if (options_.elastic) {
    EndWait();
    return CondemnStragglers("did not come to epoch " + EpochText(epoch_) +
                             " within " + SecondsText(limit) +
                             " after the first that did (" + MembersFlag() +
                             ")");
  }
  BeginStop({Verdict::kLauncherFailed, 0,
             RankText(missing) + " did not join within " + SecondsText(limit) +
                 " after the first that did (" + MembersFlag() + ")",
             "", std::nullopt},
            SIGTERM);
}

// Below the minimum after a failure, the failure is what ended the job.
void ElasticDriver::OnMinimumMissing() {
  const bool out_of_time = wait_deadline_ && now_ >= *wait_deadline_;
  std::string reason = "fewer than " +
                       CountText(options_.min_workers, "worker") +
                       " (--min-np) can run on " + HostsText(hosts_);
  if (out_of_time) {
    reason += ", for " + SecondsText(options_.elastic_timeout) +
              " already (--elastic-timeout)";
  }
  Cause cause{Verdict::kLauncherFailed, 0, reason, "", std::nullopt};
  if (why_ && why_->failure) {
    cause = *last_failure_;
    cause.reason += ", and " + reason;
  }
  BeginStop(std::move(cause), SIGTERM);
}

void ElasticDriver::SayIfWaitingLong() {
  if (state_ == State::kEnded || !next_note_ || now_ < *next_note_) return;
  next_note_ = now_ + kNoteEvery;
  SayLine(WaitText());
}

std::string ElasticDriver::WaitText() const {
  const Duration left = std::chrono::duration_cast<Duration>(
      std::max<Instant::duration>(*wait_deadline_ - now_, 0s));
  const auto more = [&](const std::string& flag) {
    return ", for " + SecondsText(left) + " more (" + flag + ")";
  };
  switch (wait_) {
    case Wait::kNothing:
      break;
    case Wait::kSlots:
      return "waiting for " + CountText(SlotsNeeded(), "slot") + ": " +
             std::to_string(TotalSlots(hosts_)) + " there (" +
             HostsText(hosts_) + ")" + more(SlotsFlag());
    case Wait::kMembers:
      return MembersText() + more(MembersFlag());
    case Wait::kMinimum:
      return "waiting for " + CountText(options_.min_workers, "worker") +
             " (--min-np) on " + HostsText(hosts_) + more("--elastic-timeout");
    case Wait::kCulprit: {
      const Worker& failed = *registry_.Find(*first_failed_);
      return "waiting for rank " + std::to_string(CulpritOf(failed).end.rank) +
             " to end, to which rank " + std::to_string(failed.end.rank) +
             " puts its failure down, for " + SecondsText(left) + " more";
    }
    case Wait::kEnds:
      return "waiting for " + RankText(registry_.Ranks(IsRunning)) +
             " to end, " +
             (left > kGiveUpAfterKill
                  ? "killed in " + SecondsText(left - kGiveUpAfterKill) +
                        " (--stop-grace-secs)"
                  : "killed already");
  }
  return "";
}

// Who has had a world before is in it still, busy with something else.
std::string ElasticDriver::MembersText() const {
  constexpr std::size_t kNamed = 4;
  const std::vector<int> missing = registry_.Ranks(NotHere());
  std::string text = "waiting for " + RankText(missing) + " to join";
  std::string busy;
  for (std::size_t i = 0; i < missing.size() && i < kNamed; ++i) {
    const Worker& worker =
        *registry_.members()[static_cast<std::size_t>(missing[i])];
    if (worker.held == Epoch{} || !worker.heard_at) continue;
    busy += (busy.empty() ? "" : ", ") + std::string("rank ") +
            std::to_string(missing[i]) + " after " +
            CountText(static_cast<int>(worker.operations), "collective") +
            " of epoch " + EpochText(worker.held) + ", last heard of " +
            SecondsText(
                std::chrono::duration_cast<Duration>(now_ - *worker.heard_at)) +
            " ago";
  }
  return busy.empty() ? text : text + " (" + busy + ")";
}

// Who the others wait for.
WorkerRegistry::Test ElasticDriver::NotHere() const {
  if (!options_.elastic) {
    return [](const Worker& worker) { return !worker.end.joined_at; };
  }
  return [](const Worker& worker) { return !worker.asks && worker.IsSeated(); };
}

int ElasticDriver::SlotsNeeded() const {
  return epoch_ == Epoch{} ? options_.workers : options_.min_workers;
}

Duration ElasticDriver::SlotsLimit() const {
  return epoch_ == Epoch{} ? options_.start_timeout : options_.elastic_timeout;
}

std::string ElasticDriver::SlotsFlag() const {
  return epoch_ == Epoch{} ? "--start-timeout" : "--elastic-timeout";
}

std::string ElasticDriver::SlotsText() const {
  return std::to_string(TotalSlots(hosts_)) + " of " +
         CountText(SlotsNeeded(), "slot") + " there";
}

Duration ElasticDriver::MembersLimit() const {
  return epoch_ == Epoch{1} ? options_.start_timeout : options_.elastic_timeout;
}

std::string ElasticDriver::MembersFlag() const {
  return epoch_ == Epoch{1} ? "--start-timeout" : "--elastic-timeout";
}

void ElasticDriver::BeginWait(Wait wait, Duration limit) {
  wait_ = wait;
  wait_deadline_ = now_ + limit;
  next_note_ = now_ + kFirstNote;
}

void ElasticDriver::EndWait() {
  wait_ = Wait::kNothing;
  wait_deadline_.reset();
  next_note_.reset();
}

// While something was waited for we asked to be called every kHeartbeat.
void ElasticDriver::SkipTimeAsleep(Instant now) {
  if (now - now_ <= kHeartbeat + kAsleep || !NextDeadline()) return;
  const Instant::duration asleep = now - now_;
  for (auto* time : {&job_deadline_, &wait_deadline_, &next_note_,
                     &first_joiner_, &first_broken_}) {
    if (*time) **time += asleep;
  }
  started_ += asleep;
  for (Worker* worker : registry_.All([](const Worker&) { return true; })) {
    for (auto* time : {&worker->heard_at, &worker->leave_by}) {
      if (*time) **time += asleep;
    }
  }
  SayLine("hvdrun did not run for " +
          SecondsText(std::chrono::duration_cast<Duration>(asleep)) +
          ": that time counts for no deadline");
}

Moment ElasticDriver::MomentOf(Instant then) const {
  return std::chrono::duration_cast<Moment>(then - born_);
}

Duration ElasticDriver::SinceBirth() const {
  return std::chrono::duration_cast<Duration>(now_ - born_);
}

}  // namespace hvd
