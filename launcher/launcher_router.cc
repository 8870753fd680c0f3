#include "launcher/launcher_router.h"

#include <memory>
#include <set>
#include <utility>

namespace hvd {

LauncherRouter::LauncherRouter(EventLoop& loop, LauncherHandlers handlers)
    : loop_(loop), handlers_(std::move(handlers)) {}

LauncherRouter::~LauncherRouter() = default;

void LauncherRouter::Add(const std::string& host, WorkerLauncher& launcher) {
  launchers_[host] = &launcher;
}

void LauncherRouter::Remove(const std::string& host) {
  launchers_.erase(host);
  for (auto next = hosts_.begin(); next != hosts_.end();) {
    next = next->second == host ? hosts_.erase(next) : std::next(next);
  }
}

void LauncherRouter::Launch(LaunchId id, WorkerCommand command) {
  const auto launcher = launchers_.find(command.host);
  if (launcher != launchers_.end()) {
    hosts_[id] = command.host;
    launcher->second->Launch(id, std::move(command));
    return;
  }
  loop_.Post(
      [this, alive = std::weak_ptr<int>(alive_), id, host = command.host] {
        if (alive.expired() || !handlers_.on_start_failed) return;
        handlers_.on_start_failed(
            id, {ErrorCode::kUnavailable, "host " + host + " is not there"});
      });
}

void LauncherRouter::Signal(LaunchId id, int signo) {
  if (WorkerLauncher* launcher = Of(id)) launcher->Signal(id, signo);
}

void LauncherRouter::Stop(LaunchId id, int first_signal, Duration grace) {
  if (WorkerLauncher* launcher = Of(id))
    launcher->Stop(id, first_signal, grace);
}

void LauncherRouter::StopLeftovers(Duration grace, std::function<void()> done) {
  AskAll(
      [grace](WorkerLauncher& launcher, std::function<void()> answered) {
        launcher.StopLeftovers(grace, std::move(answered));
      },
      std::move(done));
}

void LauncherRouter::Rest(std::function<void()> done) {
  AskAll(
      [](WorkerLauncher& launcher, std::function<void()> answered) {
        launcher.Rest(std::move(answered));
      },
      std::move(done));
}

WorkerLauncher* LauncherRouter::Of(LaunchId id) {
  const auto host = hosts_.find(id);
  if (host == hosts_.end()) return nullptr;
  const auto launcher = launchers_.find(host->second);
  return launcher == launchers_.end() ? nullptr : launcher->second;
}

void LauncherRouter::AskAll(
    const std::function<void(WorkerLauncher&, std::function<void()>)>& ask,
    std::function<void()> done) {
  std::set<WorkerLauncher*> asked;
  for (const auto& [host, launcher] : launchers_) asked.insert(launcher);
  if (asked.empty()) {
    loop_.Post(std::move(done));
    return;
  }
  const auto missing = std::make_shared<std::size_t>(asked.size());
  const auto all = std::make_shared<std::function<void()>>(std::move(done));
  for (WorkerLauncher* launcher : asked) {
    ask(*launcher, [missing, all] {
      if (--*missing == 0) (*all)();
    });
  }
}

}  // namespace hvd
