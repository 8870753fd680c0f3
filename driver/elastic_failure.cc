// What the end of a worker means for an elastic job, and which one is given up.
#include <csignal>
#include <utility>

#include "base/seconds.h"
#include "driver/elastic_driver.h"
#include "driver/texts.h"
#include "rendezvous/v1_message.h"

namespace hvd {
namespace {

// A worker that is well is heard of at least so often: a long poll's length,
// and what a busy machine takes to end one and begin the next.
constexpr Duration kHeardEvery = kLongPoll + Duration{5'000};

}  // namespace

void ElasticDriver::OnElasticExit(Worker& worker) {
  const bool expected =
      worker.leaving || worker.condemned || worker.end.told_to_stop;
  if (worker.leaving && !worker.end.status->success()) {
    TellOfLoss(worker, EndText(*worker.end.status));
  } else if (!expected && worker.end.status->success()) {
    ledger_.Retire(worker.end.worker);
  } else if (!expected && !worker.listed) {
    // Gone with its host, which is no failure.
    TellOfLoss(worker, EndText(*worker.end.status));
    if (worker.member) {
      SetWhy(ToString(worker.end.worker) + " is not listed any more", false);
    }
  } else if (!expected) {
    OnFailure(worker, EndText(*worker.end.status));
  }
  if (state_ != State::kRunning) return EndIfAllEnded();
  registry_.ForgetEnded();
  EndIfDone();
}

// Of the world that it is in for the others, and of the one that they may
// still be in with it.
void ElasticDriver::TellOfLoss(const Worker& worker, const std::string& how) {
  const auto tell = [&](Epoch epoch, int rank) {
    actions_.emplace_back(NotifyLoss{epoch, rank,
                                     "rank " + std::to_string(rank) + ' ' + how,
                                     worker.end.host_lost});
  };
  if (worker.held != Epoch{} && worker.held < epoch_ && !formed_) {
    tell(worker.held, worker.held_rank);
  }
  if (worker.member) tell(epoch_, worker.end.rank);
}

void ElasticDriver::OnFailure(Worker& worker, const std::string& how) {
  const WorkerId& slot = worker.end.worker;
  const std::string who =
      worker.member
          ? "rank " + std::to_string(worker.end.rank) + " on " + slot.host
          : "the newcomer " + ToString(slot);
  const std::string reason = who + ' ' + how;
  TellOfLoss(worker, how);
  if (worker.member) SetWhy(reason, true);
  worker.failed = true;
  ++failure_count_;
  failures_.push_back(now_);
  while (now_ - failures_.front() > options_.ledger.window)
    failures_.pop_front();
  const bool own_end = worker.end.status && !worker.condemned;
  last_failure_ =
      Cause{own_end ? Verdict::kWorkerFailed : Verdict::kLauncherFailed, 0,
            reason, "", worker.end};
  const int times = ledger_.Charge(slot, now_);
  if (EndsByLimit(slot, times)) return;
  const Instant from = ledger_.UsableFrom(slot);
  if (from == Instant::max()) {
    SayLine(reason + "; " + ToString(slot) + " is quarantined after " +
            CountText(times, "failure") + " (--slot-failures)");
  } else if (from > now_) {
    SayLine(reason + "; " + ToString(slot) + " rests for " +
            SecondsText(std::chrono::duration_cast<Duration>(from - now_)) +
            " after " + CountText(times, "failure"));
  }
}

// They hold up all the others, who have come.
void ElasticDriver::CondemnStragglers(const std::string& how) {
  for (Worker* member : registry_.members()) {
    if (member->asks || !member->IsSeated()) continue;
    Condemn(*member, how);
    if (state_ != State::kRunning) return;
  }
}

// A member that others wait for may be busy outside its collectives, for as
// long as it is heard of. One that isn't hangs as a whole.
void ElasticDriver::CondemnSilent() {
  for (Worker* member : registry_.members()) {
    const std::optional<Instant> from = SilentFrom(*member);
    if (!from || now_ < *from) continue;
    Condemn(*member, "was not heard of for " +
                         SecondsText(kHeardEvery + *options_.worker_timeout) +
                         " (--worker-timeout)");
    if (state_ != State::kRunning) return;
  }
}

std::optional<Instant> ElasticDriver::SilentFrom(const Worker& worker) const {
  if (!options_.worker_timeout || wait_ != Wait::kMembers || worker.asks ||
      !worker.IsSeated() || !worker.says_so) {
    return std::nullopt;
  }
  return *worker.heard_at + kHeardEvery + *options_.worker_timeout;
}

void ElasticDriver::Condemn(Worker& worker, const std::string& how) {
  worker.condemned = true;
  worker.asks = false;
  if (worker.IsRunning()) StopOne(worker, SIGTERM);
  OnFailure(worker, how);
}

bool ElasticDriver::EndsByLimit(const WorkerId& slot, int times) {
  Cause cause = *last_failure_;
  const int most = options_.max_restarts.value_or(10 + 2 * options_.workers);
  if (!proven_ && times >= options_.ledger.slot_failures) {
    cause.reason += ", as did all " + std::to_string(times) + " workers at " +
                    ToString(slot) + ", and no world was ever complete";
  } else if (static_cast<int>(failures_.size()) > most) {
    cause.reason += ": failure " + std::to_string(failures_.size()) +
                    " within " + SecondsText(options_.ledger.window) +
                    ", more than " + std::to_string(most) +
                    " are not allowed (--max-restarts, --restart-window)";
  } else {
    return false;
  }
  BeginStop(std::move(cause), SIGTERM);
  return true;
}

// The job is done when all members of the last world are. Who went with its
// host does not count, as long as somebody is left who does.
void ElasticDriver::EndIfDone() {
  bool failed = false;
  std::vector<LaunchId> departed;
  for (const Worker* member : registry_.members()) {
    if (!member->HasEnded()) return;
    if (member->HasDeparted()) {
      departed.push_back(member->end.launch);
    } else {
      failed = failed || member->failed;
    }
  }
  if (departed.empty()) return;
  if (failed) return BeginStop(*last_failure_, SIGTERM);
  registry_.SetMembers(departed);
  BeginStop({Verdict::kSucceeded, 0, "", "", {}}, SIGTERM);
}

}  // namespace hvd
