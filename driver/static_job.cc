// A job of one world: who must join it, and whose failure ends it.
//
// When a rank fails the others' collectives end with an error, over which their
// programs mostly end too, and often before the rank that failed has: Python
// leaves the ring before it has run its exit handlers. So a failure that its
// worker puts down to another rank waits for that one to end.
#include <csignal>
#include <string>

#include "driver/elastic_driver.h"
#include "driver/texts.h"

namespace hvd {
namespace {

bool HasJoined(const Worker& worker) {
  return worker.end.joined_at.has_value();
}
bool EndedWithoutJoining(const Worker& worker) {
  return !HasJoined(worker) && worker.HasEnded();
}

}  // namespace

void ElasticDriver::OnStaticExit(Worker& worker) {
  if (!worker.end.status->success()) {
    const Worker& culprit = CulpritOf(worker);
    if (culprit.HasEnded()) return EndByFailureOf(culprit);
    if (!first_failed_) {
      first_failed_ = worker.end.launch;
      BeginWait(Wait::kCulprit, kCulpritEnds);
    }
  }
  if (first_failed_) {
    const Worker& culprit = CulpritOf(*registry_.Find(*first_failed_));
    if (culprit.HasEnded()) EndByFailureOf(culprit);
    return;
  }
  CheckStaticJoins();
  EndIfAllEnded();
}

// Follows the blame to a rank that blames nobody or has not ended. One that
// left and succeeded is not the cause: to go on without it was a mistake.
// Of those that blame each other it is the first to end.
const Worker& ElasticDriver::CulpritOf(const Worker& failed) const {
  const Worker* culprit = &failed;
  for (std::size_t step = 0; step < registry_.members().size(); ++step) {
    if (!culprit->blames || !culprit->HasEnded()) return *culprit;
    const auto rank = static_cast<std::size_t>(*culprit->blames);
    const Worker* blamed = registry_.members()[rank];
    if (blamed->HasDeparted()) return *culprit;
    culprit = blamed;
  }
  return first_failed_ ? *registry_.Find(*first_failed_) : failed;
}

void ElasticDriver::EndByFailureOf(const Worker& worker) {
  const std::string how = EndText(*worker.end.status);
  const std::string rank = "rank " + std::to_string(worker.end.rank);
  actions_.emplace_back(NotifyLoss{epoch_, worker.end.rank, rank + ' ' + how});
  BeginStop(
      {Verdict::kWorkerFailed, 0,
       rank + " on " + worker.end.worker.host + ' ' + how, "", worker.end},
      SIGTERM);
}

// A world exists only when all of its members have joined: one that ended
// without joining keeps the others waiting for ever.
void ElasticDriver::CheckStaticJoins() {
  if (registry_.AllMembers(HasJoined)) {
    if (!timeline_.all_joined) timeline_.all_joined = SinceBirth();
    EndWait();
    return;
  }
  if (!registry_.AnyMember(HasJoined)) return;
  const auto gone = registry_.Ranks(EndedWithoutJoining);
  if (gone.empty()) return;
  const auto first = static_cast<std::size_t>(gone.front());
  BeginStop({Verdict::kLauncherFailed, 0,
             RankText(gone) + " exited with code 0 without joining the world "
                              "that the others wait for",
             "every worker of the job must call init, or none",
             registry_.members()[first]->end},
            SIGTERM);
}

}  // namespace hvd
