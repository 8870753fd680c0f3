// TreeBootstrap: a Bootstrap that lets agents start others, so that no machine
// has to log in to more than `fan_out` hosts.
//
// Who starts whom is decided by start_tree.h. What an agent cannot start hvdrun
// tries itself, and what it says is what the user hears; a host whose starter
// is lost is started from another place. Each agent dials hvdrun itself, so
// once it is there it does not need whoever has started it: if that is lost the
// agent stays. But while both are well, the end of what has started it is its
// own, as everywhere.
//
// Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "launcher/agent_message.h"
#include "launcher/bootstrap.h"
#include "launcher/start_tree.h"

namespace hvd {

class TreeBootstrap : public Bootstrap {
 public:
  struct Options {
    StartTree::Limits limits = {};
    RemoteShell shell = {};  // as agents are to use it
    AgentPlace place = {};
  };
  struct Handlers {
    // There may be room though no attempt has got anywhere.
    std::function<void()> on_room = {};
    // A line for the user.
    std::function<void(const std::string&)> say = {};
  };
  using Send = std::function<void(AgentCommand)>;

  // `direct` starts agents from here; it outlives this, as this its attempts.
  TreeBootstrap(EventLoop& loop, Bootstrap& direct, Options options,
                Handlers handlers);

  bool HasRoom() const override { return tree_.Choose().has_value(); }
  std::unique_ptr<BootstrapAttempt> Start(const RemoteHost& host,
                                          MakePayload make_payload,
                                          BootstrapHandlers handlers) override;

  // The agent of `host` is here, and may start others. What it said when it
  // started may come later, as it comes by another way: whoever waits for it is
  // told now.
  void Add(const std::string& host, Send send);
  // It is gone. Those that it has started stay.
  void Remove(const std::string& host);
  // What it says of those that it starts, and of itself; others are ignored.
  void OnEvent(const std::string& host, const AgentEvent& event);

 private:
  class Attempt;
  // What an agent has said of a host, until hvdrun has tried it itself.
  struct Blame {
    std::string starter;
    StartPhase phase{};
    std::string reason;
  };

  void StartWaiting();
  void StartFrom(const std::string& starter, Attempt& attempt);
  void StartHere(Attempt& attempt);
  void Restart(Attempt& attempt);
  void OnLogin(Attempt& attempt);
  void OnGreeted(Attempt& attempt, const std::string& version);
  void OnEnded(Attempt& attempt, const AgentOtherEnded& event);
  void OnEndedHere(Attempt& attempt, const BootstrapEnd& end);
  void OnCutOff(const std::string& host);
  Attempt* Find(const std::string& starter, std::uint64_t start);
  Attempt* Of(const std::string& host);
  void Leave(Attempt& attempt);

  EventLoop& loop_;
  Bootstrap& direct_;
  Options options_;
  Handlers handlers_;
  StartTree tree_;
  std::map<std::string, Send> agents_;
  std::uint64_t last_start_ = 0;
  std::vector<Attempt*> attempts_;  // in the order in which they began
  bool said_ = false;               // that some agents cannot start others
  std::shared_ptr<int> alive_ = std::make_shared<int>();  // see Leave()
};

}  // namespace hvd
