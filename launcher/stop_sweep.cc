#include "launcher/stop_sweep.h"

#include <algorithm>
#include <csignal>

#include "launcher/stop_ladder.h"

namespace hvd {
namespace {

// Between a KILL and the next look: exits of children wake the caller sooner;
// this is for those that are not (yet) its children.
constexpr Duration kKillInterval{10};

// Ended ones that nobody has reaped by then (one that is traced) stay.
constexpr Duration kReapPatience{500};

// A fork bomb that wins every race against us for this long wins.
constexpr Duration kLongestSweep{60'000};

}  // namespace

StopSweep::StopSweep(Duration grace, Instant now)
    : kill_at_(now + grace), next_look_(now) {}

void StopSweep::KillBy(Instant when) {
  kill_at_ = std::min(kill_at_, when);
  next_look_ = std::min(next_look_, when);
}

std::vector<GroupSignal> StopSweep::On(const std::vector<ProcessInfo>& targets,
                                       Instant now) {
  std::vector<GroupSignal> out;
  if (done()) return out;
  std::set<pid_t> groups;
  left_ = 0;
  for (const ProcessInfo& process : targets) {
    if (!process.alive || process.group <= 1) continue;
    groups.insert(process.group);
    ++left_;
  }
  if (groups.empty()) {
    OnEndedOnly(!targets.empty(), now);
    return out;
  }
  settled_at_.reset();
  if (phase_ == Phase::kTerm && now < kill_at_) {
    OnTerm(groups, out);
  } else {
    OnKill(groups, now, out);
  }
  return out;
}

void StopSweep::OnEndedOnly(bool any, Instant now) {
  if (!settled_at_) settled_at_ = now + kReapPatience;
  if (!any || now >= *settled_at_) {
    phase_ = Phase::kDone;
    return;
  }
  next_look_ = now + kKillInterval;
}

void StopSweep::OnTerm(const std::set<pid_t>& groups,
                       std::vector<GroupSignal>& out) {
  for (const pid_t group : groups) {
    if (!termed_.insert(group).second) continue;
    out.push_back({group, SIGTERM});
    out.push_back({group, SIGCONT});
  }
  next_look_ = kill_at_;
}

void StopSweep::OnKill(const std::set<pid_t>& groups, Instant now,
                       std::vector<GroupSignal>& out) {
  if (phase_ == Phase::kTerm) {
    phase_ = Phase::kKill;
    kill_at_ = now;
  }
  for (const pid_t group : groups) {
    if (stopped_.insert(group).second) out.push_back({group, SIGSTOP});
  }
  if (!out.empty()) {
    give_up_at_ = std::min(now + kKillPatience, kill_at_ + kLongestSweep);
    next_look_ = now;
    return;
  }
  if (now >= give_up_at_) {
    phase_ = Phase::kDone;
    return;
  }
  for (const pid_t group : groups) out.push_back({group, SIGKILL});
  next_look_ = now + kKillInterval;
}

void SendSignals(const std::vector<GroupSignal>& signals) {
  for (const auto& [group, signo] : signals) ::kill(-group, signo);
}

}  // namespace hvd
