// LocalLauncher: the workers of this machine, through a keeper process.
//
// Starting it makes the calling process a child subreaper: if the keeper is
// killed, what it kept comes here, is stopped, and on_lost says so. If the
// calling process is killed, the keeper does the same (keeper.h).
//
// Loop thread only. Handlers run on the loop, never from inside a call, and
// never after destruction.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/unique_fd.h"
#include "launcher/keeper_channel.h"
#include "launcher/keeper_protocol.h"
#include "launcher/orphan_sweep.h"
#include "launcher/stop_ladder.h"
#include "launcher/stopped_watch.h"
#include "launcher/worker_launcher.h"

namespace hvd {

class LocalLauncher : public WorkerLauncher {
 public:
  struct Options {
    std::string keeper_path = {};
    // Between TERM and KILL, for what is left when a worker has ended, when
    // this process is gone, or when the keeper is.
    Duration lifeline_grace{10'000};
    // After which on_stopped is called; nullopt: nobody wants to know.
    std::optional<Duration> stopped_limit = {};
    // RLIMIT_NOFILE as the user had it, if this process changed its own.
    std::optional<FdLimit> worker_nofile = {};
    // A direct child of this process that is no worker (a discovery script):
    // spared when the keeper is gone and its workers are stopped.
    std::function<bool(pid_t)> spare = {};
  };

  // Returns as soon as the keeper's program runs. Errors as FindProgram and
  // Spawn.
  static Result<std::unique_ptr<LocalLauncher>> Start(
      EventLoop& loop, Options options, LauncherHandlers handlers);

  // Closes the lifeline: the keeper stops what still runs, without this process
  // waiting for it. With nothing left it waits for the keeper's own end.
  ~LocalLauncher() override;
  LocalLauncher(const LocalLauncher&) = delete;
  LocalLauncher& operator=(const LocalLauncher&) = delete;

  void Launch(LaunchId id, WorkerCommand command) override;
  void Signal(LaunchId id, int signo) override;
  void Stop(LaunchId id, int first_signal, Duration grace) override;
  void StopLeftovers(Duration grace, std::function<void()> done) override;
  void Rest(std::function<void()> done) override;

  pid_t keeper_pid() const { return keeper_pid_; }

 private:
  struct Worker {
    pid_t pid = 0;  // once it has started
    std::optional<StopLadder> ladder;
    std::unique_ptr<Timer> rung_timer;
  };

  LocalLauncher(EventLoop& loop, Options options, LauncherHandlers handlers,
                UniqueFd socket, pid_t keeper_pid, UniqueFd keeper_pidfd);

  void Command(const KeeperCommand& command, std::vector<UniqueFd> fds = {});
  void WatchSocket();
  void OnSocket();
  void OnEvent(const KeeperEvent& event);
  void OnStarted(const KeeperStarted& started);
  void OnStartFailed(const KeeperStartFailed& failed);
  void OnExited(const KeeperExited& exited);
  void OnAllStopped();
  void Climb(LaunchId id);
  void OnStuck(LaunchId id);
  void FailStart(LaunchId id, Error error);
  // Runs `fn` on the loop unless this was destroyed meanwhile.
  void Later(std::function<void()> fn);

  void Lose(Error why);
  void OnOrphansGone();

  EventLoop& loop_;
  Options options_;
  LauncherHandlers handlers_;
  KeeperChannel channel_;
  pid_t keeper_pid_;
  UniqueFd keeper_pidfd_;
  bool lost_ = false;
  std::map<LaunchId, Worker> workers_;
  std::vector<std::function<void()>> leftovers_done_;
  std::optional<StoppedWatch> stopped_;
  std::unique_ptr<FdWatch> readable_;
  std::unique_ptr<FdWatch> writable_;
  std::unique_ptr<OrphanSweep> orphans_;
  bool orphans_gone_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>();  // see Later()
};

}  // namespace hvd
