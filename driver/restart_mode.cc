// Workers that never speak to us know one way to go on: to be started again.
//
// Whether they will speak shows when they have started: until --start-timeout
// has passed only a loss is a reason.
#include <csignal>
#include <string>
#include <vector>

#include "driver/elastic_driver.h"
#include "driver/slot_assignment.h"
#include "driver/texts.h"

namespace hvd {
namespace {

bool IsLost(const Worker& worker) { return worker.IsLost(); }
bool HasDeparted(const Worker& worker) { return worker.HasDeparted(); }

}  // namespace

void ElasticDriver::RestartIfNeeded() {
  restart_at_.reset();
  const bool lost = registry_.AnyMember(IsLost);
  if (!lost && registry_.AnyMember(HasDeparted)) return;
  const std::vector<WorkerId> slots = AssignSlots(
      hosts_, Most(),
      [&](const WorkerId& slot) { return ledger_.UsableFrom(slot) <= now_; });
  if (!lost) {
    if (slots == registry_.MemberIds()) {
      if (wait_ == Wait::kMinimum) EndWait();
      return;
    }
    if (static_cast<int>(slots.size()) < options_.min_workers) {
      return WaitForMinimum();
    }
    // They may be importing still, and speak in a moment.
    if (options_.mode == ElasticMode::kByContact &&
        now_ < started_ + options_.start_timeout) {
      restart_at_ = started_ + options_.start_timeout;
      return;
    }
    SetWhy("the hosts have changed", false);
  }
  state_ = State::kRestarting;
  stop_signal_ = SIGTERM;
  BeginWait(Wait::kEnds, options_.stop_grace + kGiveUpAfterKill);
  for (Worker* worker :
       registry_.All([](const Worker& w) { return w.IsRunning(); })) {
    StopOne(*worker, SIGTERM);
  }
  ContinueRestart();
}

void ElasticDriver::ContinueRestart() {
  if (registry_.Any([](const Worker& w) { return !w.HasEnded(); })) return;
  ++restarts_;
  state_ = State::kWaitingForSlots;
  BeginWait(Wait::kSlots, options_.elastic_timeout);
  StartWorldIfSlots();
}

}  // namespace hvd
