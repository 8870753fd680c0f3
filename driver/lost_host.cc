// What the loss of a host means: all of its workers are gone, by nobody's
// fault.
#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "driver/elastic_driver.h"

namespace hvd {

void ElasticDriver::Apply(const HostLost& event) {
  const std::string reason =
      "host " + event.host + " is lost: " + event.error.message();
  Unlist(event.host);
  const std::vector<Worker*> lost = registry_.All([&](const Worker& worker) {
    return worker.end.worker.host == event.host && !worker.HasEnded();
  });
  for (Worker* worker : lost) LoseWorker(*worker, reason);
  if (lost.empty()) return;
  if (state_ == State::kRestarting) return ContinueRestart();
  if (state_ == State::kRunning && options_.elastic) {
    SayLine(reason);
    registry_.ForgetEnded();
    return EndIfDone();
  }
  if (state_ == State::kRunning) {
    return BeginStop({Verdict::kLauncherFailed, 0, reason, event.error.hint(),
                      lost.front()->end},
                     SIGTERM);
  }
  EndIfAllEnded();
}

void ElasticDriver::LoseWorker(Worker& worker, const std::string& reason) {
  worker.end.host_lost = true;
  worker.end.ended_at = SinceBirth();
  worker.asks = false;
  if (!options_.elastic || state_ != State::kRunning) return;
  TellOfLoss(worker, "is gone: " + reason);
  if (worker.member) SetWhy(reason, false);
}

// Nothing is started there before the next list that has it.
void ElasticDriver::Unlist(const std::string& host) {
  listed_.erase(host);
  hosts_.erase(
      std::remove_if(hosts_.begin(), hosts_.end(),
                     [&](const HostSlots& h) { return h.host == host; }),
      hosts_.end());
  for (Worker* worker : registry_.All(
           [&](const Worker& w) { return w.end.worker.host == host; })) {
    worker->listed = false;
  }
}

}  // namespace hvd
