#include "launcher/stopped_watch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/descendants.h"

namespace hvd {
namespace {

constexpr Duration kSlowest{1'000};
constexpr Duration kFastest{50};

}  // namespace

StoppedWatch::StoppedWatch(EventLoop& loop, Duration limit, Handler on_stopped)
    : loop_(loop), limit_(limit), on_stopped_(std::move(on_stopped)) {
  LookLater();
}

void StoppedWatch::Add(LaunchId launch, pid_t pid) {
  workers_[launch].pid = pid;
}

void StoppedWatch::Rest() { next_.reset(); }

void StoppedWatch::StartAnew() {
  if (!next_) LookLater();
  for (auto& [launch, worker] : workers_) worker.since.reset();
}

void StoppedWatch::LookLater() {
  next_ = loop_.After(std::clamp(limit_ / 4, kFastest, kSlowest), [this] {
    Look();
    LookLater();
  });
}

void StoppedWatch::Look() {
  const Instant now = loop_.Now();
  std::vector<LaunchId> stopped;
  for (auto& [launch, worker] : workers_) {
    const std::optional<ProcessInfo> process = LookAt(worker.pid);
    if (!process || !process->stopped) {
      worker.since.reset();
      worker.told = false;
      continue;
    }
    if (!worker.since) worker.since = now;
    if (worker.told || now - *worker.since < limit_) continue;
    worker.told = true;
    stopped.push_back(launch);
  }
  for (const LaunchId launch : stopped) on_stopped_(launch);
}

}  // namespace hvd
