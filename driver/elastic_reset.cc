// From world to world: what an elastic job does about losses, newcomers and
// changed hosts.
#include <algorithm>
#include <csignal>
#include <utility>

#include "base/seconds.h"
#include "driver/elastic_driver.h"
#include "driver/slot_assignment.h"
#include "driver/texts.h"

namespace hvd {
namespace {

// Newcomers that come within this time of the first share one reset.
constexpr Duration kGather{1'000};
// A ring can break before its cause is seen: a reset waits so long for it.
constexpr Duration kCauseComes{250};

bool IsSeated(const Worker& worker) { return worker.IsSeated(); }
bool Asks(const Worker& worker) { return worker.asks && worker.IsSeated(); }
bool IsNewcomer(const Worker& worker) {
  return !worker.member && worker.IsSeated();
}
bool IsReadyNewcomer(const Worker& worker) {
  return IsNewcomer(worker) && worker.asks;
}
bool HasDeparted(const Worker& worker) { return worker.HasDeparted(); }
bool IsLost(const Worker& worker) { return worker.IsLost(); }

}  // namespace

void ElasticDriver::StartWorldIfSlots() {
  const bool first = epoch_ == Epoch{};
  const int needed = first ? options_.workers : options_.min_workers;
  // Workers that know no other way are started all together: a slot that rests
  // is waited for, or it would end them all again a moment later.
  if (!first && NextUsable()) return;
  const std::vector<WorkerId> slots = AssignSlots(
      hosts_, Most(),
      [&](const WorkerId& slot) { return ledger_.UsableFrom(slot) <= now_; });
  if (static_cast<int>(slots.size()) < needed ||
      (options_.elastic && CountHosts(slots) < options_.min_hosts)) {
    return;
  }
  state_ = State::kRunning;
  started_ = now_;
  if (!timeline_.published) timeline_.published = SinceBirth();
  std::vector<LaunchId> launches;
  for (const WorkerId& slot : slots) {
    const int rank = static_cast<int>(launches.size());
    launches.push_back(registry_.Add(slot, rank).end.launch);
  }
  Publish(launches);
  if (state_ != State::kRunning) return;
  actions_.reserve(actions_.size() + launches.size());
  for (const Worker* worker : registry_.members()) {
    actions_.emplace_back(StartWorker{worker->end.launch, worker->end.worker,
                                      worker->end.rank, restarts_});
  }
}

void ElasticDriver::Publish(const std::vector<LaunchId>& launches) {
  const int before = static_cast<int>(registry_.members().size());
  SetWhy("the workers were started again", false);
  if (epoch_ != Epoch{} && EndsByResetLimit()) return;
  epoch_ = Epoch{static_cast<std::uint64_t>(epoch_) + 1};
  registry_.SetMembers(launches);
  formed_ = false;
  first_broken_.reset();
  first_joiner_.reset();
  if (registry_.Any(IsReadyNewcomer)) first_joiner_ = now_;
  EndWait();
  actions_.emplace_back(PublishWorld{{epoch_, registry_.MemberIds()}});
  if (epoch_ > Epoch{1}) {
    const int after = static_cast<int>(launches.size());
    SayLine("epoch " + EpochText(epoch_) + ": " + CountText(after, "worker") +
            ", " + std::to_string(before) + " before: " + why_->text);
    resets_.push_back({epoch_, why_->text, before, after, MomentOf(why_->since),
                       MomentOf(now_), std::nullopt});
  }
  why_.reset();
  StopUnwantedNewcomers();
  if (registry_.AnyMember(Asks)) AwaitMembers();
  CheckFormed();
}

bool ElasticDriver::EndsByResetLimit() {
  if (!options_.reset_limit ||
      static_cast<int>(resets_.size()) < *options_.reset_limit) {
    return false;
  }
  Cause cause{Verdict::kLauncherFailed, 0, why_->text, "", std::nullopt};
  if (why_->failure) cause = *last_failure_;
  cause.reason += ", and the " + std::to_string(*options_.reset_limit) +
                  " resets of --reset-limit are used up";
  BeginStop(std::move(cause), SIGTERM);
  return true;
}

void ElasticDriver::Reconcile() {
  if (!options_.elastic) return;
  if (state_ == State::kWaitingForSlots) StartWorldIfSlots();
  if (state_ == State::kRunning && !Keeps()) RestartIfNeeded();
  if (state_ != State::kRunning || !Keeps()) return;
  StopUnwantedNewcomers();
  StopLateLeavers();
  CondemnSilent();
  if (state_ != State::kRunning) return;
  StartMissing();
  PublishIfDue();
}

bool ElasticDriver::IsListed(const WorkerId& slot) const {
  const auto host = listed_.find(slot.host);
  return host != listed_.end() && slot.slot < host->second;
}

int ElasticDriver::Most() const {
  if (!options_.elastic) return options_.workers;
  return options_.max_workers.value_or(kMaxSlots);
}

// They have had no world, so nobody misses them and they have nothing to
// finish. The server does not tell them, for they could only fail.
void ElasticDriver::StopUnwantedNewcomers() {
  for (Worker* worker : registry_.All([](const Worker& w) {
         return !w.member && w.held == Epoch{} && !w.condemned;
       })) {
    if (!worker->leaving && worker->listed) continue;
    // One that was asked for is stopped once it runs.
    if (!worker->IsRunning() || worker->end.told_to_stop) continue;
    worker->leaving = true;
    SayLine("the newcomer " + ToString(worker->end.worker) +
            " was taken off the list before its first world: stopped");
    StopOne(*worker, SIGTERM);
  }
}

void ElasticDriver::StopLateLeavers() {
  for (Worker* worker : registry_.All([&](const Worker& w) {
         return w.leaving && w.IsRunning() && w.leave_by && !w.end.told_to_stop;
       })) {
    if (now_ >= *worker->leave_by) StopOne(*worker, SIGTERM);
  }
}

void ElasticDriver::StartMissing() {
  // The job is about to be done: whoever came now would come too late.
  if (registry_.AnyMember(HasDeparted)) return;
  // Mostly nothing is, and then no slot is looked at.
  const int taken = registry_.Count(
      [](const Worker& w) { return w.listed && !w.HasEnded(); });
  if (taken == TotalSlots(hosts_)) return;
  const int room = Most() - registry_.Count(IsSeated);
  const std::vector<WorkerId> slots =
      AssignSlots(hosts_, room, [&](const WorkerId& slot) {
        return ledger_.UsableFrom(slot) <= now_ &&
               registry_.FindLive(slot) == nullptr;
      });
  int rank = static_cast<int>(registry_.members().size()) +
             registry_.Count(IsNewcomer);
  for (const WorkerId& slot : slots) {
    const Worker& worker = registry_.Add(slot, rank++);
    actions_.emplace_back(
        StartWorker{worker.end.launch, slot, worker.end.rank, restarts_});
  }
}

void ElasticDriver::PublishIfDue() {
  if (CountForMinimum() < options_.min_workers) {
    WaitForMinimum();
  } else if (wait_ == Wait::kMinimum) {
    EndWait();
  }
  if (state_ != State::kRunning) return;
  const std::vector<LaunchId> next = NextMembers();
  if (next.empty() || static_cast<int>(next.size()) < options_.min_workers) {
    return;
  }
  const std::optional<Why> why = WhyNow(next);
  if (!why) return;
  if (!why_) why_ = why;
  Publish(next);
}

// Who has left with 0 has done its part, as long as the others do without it.
int ElasticDriver::CountForMinimum() {
  const bool missed = IsMissed();
  return registry_.Count([missed](const Worker& w) {
    if (HasDeparted(w)) return !missed;
    return w.listed && (w.member ? w.IsSeated() : IsReadyNewcomer(w));
  });
}

// Survivors in their old order, then newcomers. Who sits on a slot that is not
// listed any more stays for as long as there are too few without it.
std::vector<LaunchId> ElasticDriver::NextMembers() {
  const std::vector<Worker*> newcomers = registry_.All(
      [](const Worker& w) { return IsReadyNewcomer(w) && w.listed; });
  int missing = options_.min_workers - static_cast<int>(newcomers.size());
  for (const Worker* member : registry_.members()) {
    if (member->IsSeated() && member->listed) --missing;
  }
  std::vector<LaunchId> next;
  for (const Worker* member : registry_.members()) {
    if (!member->IsSeated()) continue;
    if (!member->listed && missing-- <= 0) continue;
    next.push_back(member->end.launch);
  }
  for (const Worker* newcomer : newcomers) next.push_back(newcomer->end.launch);
  return next;
}

// Losses and leavers at once; a broken ring once its cause had time to show;
// newcomers when all have come that are on their way, or a moment later.
std::optional<ElasticDriver::Why> ElasticDriver::WhyNow(
    const std::vector<LaunchId>& next) {
  if (registry_.AnyMember(IsLost)) return Why{"a worker is gone", false, now_};
  auto stays = next.begin();  // in their old order, as the members are
  for (const Worker* member : registry_.members()) {
    if (!member->IsSeated()) continue;
    if (stays != next.end() && *stays == member->end.launch) {
      ++stays;
      continue;
    }
    return Why{ToString(member->end.worker) + " is not listed any more", false,
               now_};
  }
  if (first_broken_) return WhyBroken();
  if (IsMissed() && registry_.AnyMember(HasDeparted)) {
    return Why{RankText(registry_.Ranks(HasDeparted)) + " left with code 0",
               false, now_};
  }
  if (!first_joiner_ || !formed_) return std::nullopt;
  const auto newcomers = static_cast<int>(next.end() - stays);
  const bool more_come =
      registry_.Any([](const Worker& w) { return IsNewcomer(w) && !w.asks; });
  if (newcomers == 0 || (more_come && now_ < *first_joiner_ + kGather)) {
    return std::nullopt;
  }
  return Why{CountText(newcomers, "newcomer"), false, *first_joiner_};
}

// Some member waits for a world that needs all of them.
bool ElasticDriver::IsMissed() const {
  return first_broken_ || (!formed_ && registry_.AnyMember(Asks));
}

std::optional<ElasticDriver::Why> ElasticDriver::WhyBroken() const {
  const bool all_ask = registry_.AllMembers(
      [](const Worker& member) { return !member.IsSeated() || member.asks; });
  if (!all_ask && now_ < CauseShownBy()) return std::nullopt;
  const std::vector<int> departed = registry_.Ranks(HasDeparted);
  return Why{departed.empty() ? "the ranks lost each other"
                              : RankText(departed) + " left with code 0",
             false, *first_broken_};
}

// A rank that has left, by the word of others, and asks for nothing is about to
// end.
Instant ElasticDriver::CauseShownBy() const {
  const bool one_is_ending = registry_.AnyMember([&](const Worker& member) {
    if (!member.blames) return false;
    const auto rank = static_cast<std::size_t>(*member.blames);
    const Worker& blamed = *registry_.members()[rank];
    return blamed.IsSeated() && !blamed.asks;
  });
  return *first_broken_ + (one_is_ending ? kCulpritEnds : kCauseComes);
}

// What Reconcile would do later though nothing happens meanwhile.
std::optional<Instant> ElasticDriver::NextReconcile() const {
  if (!options_.elastic || state_ == State::kStopping) return std::nullopt;
  std::optional<Instant> next = NextUsable();
  const auto consider = [&](Instant when) {
    if (when > now_ && (!next || when < *next)) next = when;
  };
  if (first_broken_) consider(CauseShownBy());
  if (first_joiner_) consider(*first_joiner_ + kGather);
  if (restart_at_ && !Keeps()) consider(*restart_at_);
  for (const auto& worker : registry_.workers()) {
    if (worker->leave_by && worker->IsRunning()) consider(*worker->leave_by);
    if (const auto from = SilentFrom(*worker)) consider(*from);
  }
  return next;
}

std::optional<Instant> ElasticDriver::NextUsable() const {
  return ledger_.NextChange(
      [this](const WorkerId& slot) { return IsListed(slot); }, now_);
}

void ElasticDriver::SetWhy(const std::string& text, bool failure) {
  if (!why_) why_ = Why{text, failure, now_};
}

void ElasticDriver::WaitForMinimum() {
  const bool hope =
      options_.hosts_may_change || CanBeUsed() >= options_.min_workers;
  if (!hope) return OnMinimumMissing();
  if (wait_ == Wait::kNothing) {
    BeginWait(Wait::kMinimum, options_.elastic_timeout);
  }
}

// Slots that are listed and not out of use for ever.
int ElasticDriver::CanBeUsed() const {
  return static_cast<int>(
      AssignSlots(hosts_, kMaxSlots, [&](const WorkerId& slot) {
        return ledger_.UsableFrom(slot) != Instant::max();
      }).size());
}

void ElasticDriver::OnAsked(Worker& worker, Epoch after) {
  // Again, as its answer was lost: it is told the world that there is.
  if (worker.member && formed_ && after < epoch_) return;
  worker.asks = true;
  worker.held = after;
  if (!worker.member) {
    if (!first_joiner_ && worker.IsSeated()) first_joiner_ = now_;
    return;
  }
  if (formed_) {  // it wants another world than it has
    if (!first_broken_) first_broken_ = now_;
    return;
  }
  AwaitMembers();
  CheckFormed();
}

void ElasticDriver::AwaitMembers() {
  if (wait_ == Wait::kMembers || formed_) return;
  BeginWait(Wait::kMembers, MembersLimit());
}

void ElasticDriver::CheckFormed() {
  if (formed_ || registry_.members().empty() || !registry_.AllMembers(Asks)) {
    return;
  }
  formed_ = true;
  proven_ = true;
  for (Worker* member : registry_.members()) {
    member->asks = false;
    member->held = epoch_;
    member->held_rank = member->end.rank;
  }
  if (!timeline_.all_joined) timeline_.all_joined = SinceBirth();
  if (!resets_.empty()) resets_.back().formed = MomentOf(now_);
  if (wait_ == Wait::kMembers) EndWait();
  for (Worker* leaver : registry_.All(
           [](const Worker& w) { return w.leaving && !w.leave_by; })) {
    leaver->leave_by = now_ + options_.stop_grace;
  }
}

}  // namespace hvd
