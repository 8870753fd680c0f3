// LauncherRouter: all hosts of a job as one launcher.
//
// Each host has a launcher of its own; what a worker's host is, is known from
// its start. Hosts may come and go. Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/event_loop.h"
#include "launcher/worker_launcher.h"

namespace hvd {

class LauncherRouter : public WorkerLauncher {
 public:
  // What cannot be launched is told to `handlers`, which the launchers get too.
  LauncherRouter(EventLoop& loop, LauncherHandlers handlers);
  ~LauncherRouter() override;
  LauncherRouter(const LauncherRouter&) = delete;
  LauncherRouter& operator=(const LauncherRouter&) = delete;

  // Borrowed until Remove(); one launcher may be that of several hosts.
  void Add(const std::string& host, WorkerLauncher& launcher);
  // Its workers are forgotten: nobody can reach them.
  void Remove(const std::string& host);

  void Launch(LaunchId id, WorkerCommand command) override;
  void Signal(LaunchId id, int signo) override;
  void Stop(LaunchId id, int first_signal, Duration grace) override;
  void StopLeftovers(Duration grace, std::function<void()> done) override;
  void Rest(std::function<void()> done) override;

 private:
  WorkerLauncher* Of(LaunchId id);
  // Asks each launcher once; `done` when all have answered.
  void AskAll(
      const std::function<void(WorkerLauncher&, std::function<void()>)>& ask,
      std::function<void()> done);

  EventLoop& loop_;
  LauncherHandlers handlers_;
  std::map<std::string, WorkerLauncher*> launchers_;  // by host
  std::map<LaunchId, std::string> hosts_;             // of each launch
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace hvd
