// What goes wrong in a simulated job.
#include <csignal>
#include <utility>

#include "simulation/simulated_job.h"

namespace hvd {

void SimulatedJob::Do(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kKill:
    case FaultKind::kHang:
      return DoToWorker(fault);
    case FaultKind::kBad:
    case FaultKind::kSlow:
      return DoToSlot(fault);
    case FaultKind::kLeave:
    case FaultKind::kLose:
    case FaultKind::kCome:
      return DoToHost(fault);
  }
}

void SimulatedJob::DoToWorker(const Fault& fault) {
  const std::optional<LaunchId> launch =
      fault.where.empty() ? AnyRunningMember() : RunningAt(SlotOf(fault.where));
  if (!launch) return Report(fault, fault.where, "no worker is there");
  Report(fault, ToString(processes_.at(*launch).id));
  if (fault.kind == FaultKind::kKill) return Exit(*launch, {0, SIGKILL});
  Hang(*launch);
}

// Whoever watches for stopped processes sees it, and so do its peers in time.
void SimulatedJob::Hang(LaunchId launch) {
  FindRunning(launch)->hangs = true;
  const auto still_hangs = [this, launch] {
    return FindRunning(launch) != nullptr;
  };
  if (options_.driver.worker_timeout) {
    time_.After(*options_.driver.worker_timeout, [this, launch, still_hangs] {
      if (still_hangs()) Feed(WorkerStopped{launch});
    });
  }
  time_.After(options_.collective_timeout, [this, launch, still_hangs] {
    if (still_hangs()) BreakRing(FindRunning(launch)->held);
  });
}

void SimulatedJob::DoToSlot(const Fault& fault) {
  const HostList& listed = hosts_.listed();
  if (listed.empty()) return Report(fault, fault.where, "no host is there");
  WorkerId slot;
  if (fault.where.empty()) {
    slot.host = listed[static_cast<std::size_t>(Pick(listed.size()))].host;
    slot.slot = Pick(static_cast<std::size_t>(options_.spec.slots));
  } else {
    slot = SlotOf(fault.where);
  }
  Report(fault, ToString(slot));
  if (fault.kind == FaultKind::kSlow) return hosts_.Slow(slot);
  hosts_.Spoil(slot);
  if (const auto launch = RunningAt(slot)) Exit(*launch, {1, 0});
}

void SimulatedJob::DoToHost(const Fault& fault) {
  const bool comes = fault.kind == FaultKind::kCome;
  const HostList& listed = hosts_.listed();
  std::string host = fault.where;
  if (host.empty() && comes) host = hosts_.NextToCome();
  if (host.empty() && !listed.empty()) {
    host = listed[static_cast<std::size_t>(Pick(listed.size()))].host;
  }
  if (hosts_.IsListed(host) == comes) {
    return Report(fault, host, comes ? "it is there" : "it is not there");
  }
  Report(fault, host);
  if (comes) hosts_.Come(host);
  if (fault.kind == FaultKind::kLeave) hosts_.Leave(host);
  if (fault.kind == FaultKind::kLose) {
    hosts_.Lose(host);
    KillAllOn(host);
  }
  time_.After(Between(Duration{0}, options_.discovery_interval),
              [this] { TellHosts(); });
}

// One after the other, as it is seen from elsewhere.
void SimulatedJob::KillAllOn(const std::string& host) {
  for (const auto& [launch, process] : processes_) {
    if (process.id.host != host) continue;
    time_.After(Between(Duration{1}, Duration{50}), [this, id = launch] {
      Exit(id, {0, SIGKILL});
    });
  }
}

void SimulatedJob::TellHosts() {
  if (!told_.empty() && told_ == hosts_.listed()) return;
  told_ = hosts_.listed();
  Feed(HostsDiscovered{told_});
}

std::optional<LaunchId> SimulatedJob::RunningAt(const WorkerId& id) {
  const auto newest = newest_.find(id);
  if (newest == newest_.end() || FindRunning(newest->second) == nullptr) {
    return std::nullopt;
  }
  return newest->second;
}

std::optional<LaunchId> SimulatedJob::AnyRunningMember() {
  const std::size_t size = world_.workers.size();
  if (size == 0) return std::nullopt;
  const auto first = static_cast<std::size_t>(Pick(size));
  for (std::size_t i = 0; i < size; ++i) {
    const auto launch = RunningAt(world_.workers[(first + i) % size]);
    if (launch && !FindRunning(*launch)->hangs) return launch;
  }
  return std::nullopt;
}

void SimulatedJob::Report(const Fault& fault, const std::string& where,
                          const std::string& but) {
  std::string text(ToText(fault.kind));
  if (!where.empty()) text += ' ' + where;
  if (!but.empty()) text += ": " + but;
  handlers_.on_fault(Since(Instant{}), text);
}

}  // namespace hvd
