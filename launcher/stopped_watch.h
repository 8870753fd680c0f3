// StoppedWatch: tells which workers have been stopped (SIGSTOP) for too long.
//
// A stopped process ends nothing and says nothing; only /proc knows. One that a
// debugger holds is not meant.
//
// Loop thread only.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/event_loop.h"
#include "rendezvous/world.h"

namespace hvd {

class StoppedWatch {
 public:
  using Handler = std::function<void(LaunchId)>;

  // `on_stopped` is called once for each time that a worker is stopped for
  // `limit`, give or take a second.
  StoppedWatch(EventLoop& loop, Duration limit, Handler on_stopped);

  void Add(LaunchId launch, pid_t pid);
  void Remove(LaunchId launch) { workers_.erase(launch); }
  // All workers are about to be stopped, and it is known why.
  void Rest();
  // They go on: no time has passed.
  void StartAnew();

 private:
  struct Worker {
    pid_t pid = 0;
    std::optional<Instant> since;  // it is stopped
    bool told = false;
  };

  void LookLater();
  void Look();

  EventLoop& loop_;
  Duration limit_;
  Handler on_stopped_;
  std::map<LaunchId, Worker> workers_;
  std::unique_ptr<Timer> next_;
};

}  // namespace hvd
