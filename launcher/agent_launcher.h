// AgentLauncher: the workers of one other host, through its agent.
//
// Output goes into the pipes that a WorkerCommand brings, as if the worker had
// them itself; a worker's end is told when what it printed before is there, or
// after kOutputPatience, whichever is first. If the agent is silent for too
// long or the connection ends, the host is lost: no more events come for its
// workers.
//
// Loop thread only. Handlers run on the loop, never from inside a call, and
// never after destruction.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "launcher/agent_connection.h"
#include "launcher/byte_sink.h"
#include "launcher/byte_source.h"
#include "launcher/life_signs.h"
#include "launcher/store_tunnel.h"
#include "launcher/worker_launcher.h"

namespace hvd {

class AgentLauncher : public WorkerLauncher {
 public:
  // Output that nobody reads must not hold up the news of an end.
  static constexpr Duration kOutputPatience{500};

  struct Options {
    std::string host = {};  // for messages
    Duration host_timeout{15'000};
    std::uint16_t store_port = 0;  // of the store, at 127.0.0.1
    // Variables of a login that are passed on all the same.
    std::vector<std::string> kept = {};
  };

  // `on_message`: what is no worker's affair, About first. `on_lost`: once, the
  // last call; it may destroy this.
  struct HostHandlers {
    std::function<void(AgentEvent)> on_message;
    std::function<void(Error)> on_lost;
  };

  AgentLauncher(EventLoop& loop, std::unique_ptr<AgentLink> link,
                Options options, LauncherHandlers handlers,
                HostHandlers host_handlers);
  // The agent ends, and stops what it still runs.
  ~AgentLauncher() override;
  AgentLauncher(const AgentLauncher&) = delete;
  AgentLauncher& operator=(const AgentLauncher&) = delete;

  // None of its workers is starting or running.
  bool idle() const { return workers_.empty(); }
  // For what is no worker's affair.
  void Send(AgentCommand command);

  void Launch(LaunchId id, WorkerCommand command) override;
  void Signal(LaunchId id, int signo) override;
  void Stop(LaunchId id, int first_signal, Duration grace) override;
  void StopLeftovers(Duration grace, std::function<void()> done) override;
  void Rest(std::function<void()> done) override;

 private:
  struct Worker {
    pid_t pid = 0;
    UniqueFd input;  // until it has started: bytes may overtake messages
    std::array<std::uint64_t, 3> taken{};  // bytes of each descriptor
    std::optional<AgentExited> ended;      // but its output is not all here
    std::unique_ptr<Timer> patience;
  };

  void OnMessage(AgentEvent event);
  void OnBytes(WorkerBytes bytes);
  void OnTaken();
  void On(const AgentStarted& event);
  void On(const AgentStartFailed& event);
  void On(const AgentExited& event);
  void On(const AgentStuck& event);
  void On(const AgentLeftoversStopped& event);
  void On(const AgentResting& event);
  void CheckEnded(LaunchId id);
  void TellEnd(LaunchId id);
  void Forget(LaunchId id);
  void Lose(Error why);
  void FailStart(LaunchId id, Error error);
  void CallAll(std::vector<std::function<void()>>& waiting);
  void Later(std::function<void()> fn);

  EventLoop& loop_;
  Options options_;
  LauncherHandlers handlers_;
  HostHandlers host_handlers_;
  std::unique_ptr<AgentLink> link_;  // null: lost
  ByteSource input_;
  ByteSink output_;
  StoreExit store_;
  WorkerStream writing_;  // whose piece output_ got last, and its size
  std::size_t writing_bytes_ = 0;
  std::map<LaunchId, Worker> workers_;
  std::vector<std::function<void()>> leftovers_done_;
  std::vector<std::function<void()>> resting_;
  std::unique_ptr<LifeSigns> life_signs_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();  // see Later()
};

}  // namespace hvd
