// AgentStarts: one agent on each host that is wanted, tried until it runs.
//
// A host waits for its turn while the bootstrap has no room. One whose try
// failed and may go better rests before the next, each time a little longer.
// All of it has until `start_timeout` after Want(): a host is missing until
// Ready().
//
// It decides nothing about the job. Loop thread only; handlers run on the loop,
// never from inside a call and never after destruction.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/result.h"
#include "launcher/bootstrap.h"

namespace hvd {

struct AgentStartHandlers {
  // The agent runs and was given its payload; from now on the host is in the
  // phase kAgentAnswers.
  std::function<void(const std::string& host,
                     const std::string& program_version)>
      on_agent = {};
  // Final, and the host is forgotten: hopeless, or not Ready() in time. The
  // connection, if there is one, is ended.
  std::function<void(const std::string& host, Error)> on_failed = {};
  // The connection ended after on_agent; the host is forgotten.
  std::function<void(const std::string& host, Error)> on_ended = {};
  // "ssh b: Connection closed by 10.77.0.2 port 22"
  std::function<void(const std::string& line)> on_chatter = {};
};

// When on_chatter hears what was said on the way to a host: banners are noise,
// until there is an error that does not explain itself.
enum class ChatterWhen { kHostFailed, kAtOnce };

class AgentStarts {
 public:
  struct Options {
    Duration start_timeout{30'000};
    // Between two tries, doubled up to the longest; up to twice that for some.
    Duration first_pause{250};
    Duration longest_pause{3'000};
    ChatterWhen chatter = ChatterWhen::kHostFailed;
  };
  // For each try of each host anew, so that no secret is used twice.
  using MakePayloadFor = std::function<std::string(const std::string& host)>;

  // `bootstrap` outlives this.
  AgentStarts(EventLoop& loop, Bootstrap& bootstrap, Options options,
              MakePayloadFor make_payload, AgentStartHandlers handlers);
  // Ends every connection, and with it every agent.
  ~AgentStarts();
  AgentStarts(const AgentStarts&) = delete;
  AgentStarts& operator=(const AgentStarts&) = delete;

  // A host that is wanted already stays as it is.
  void Want(const RemoteHost& host);
  // Ends its connection, and with it its agent; nothing more is told of it.
  void Drop(const std::string& host);

  // All that are wanted, in that order.
  std::vector<std::string> hosts() const;

  // The bootstrap may have room again.
  void Next();

  // What the host waits for once its agent runs: kAgentAnswers or
  // kInterfaceProof.
  void SetPhase(const std::string& host, StartPhase phase);
  // All is done: the host is not missing any more, and has no time limit.
  void Ready(const std::string& host);

  // "waiting for hosts: b (connect: Connection refused, try 3), c (agent
  // starts)", in the order in which they were wanted; empty if none is missing.
  std::string Waiting() const;

 private:
  struct Start;

  Start* Find(const std::string& host) const;
  void Try(Start& start);
  void OnAgent(Start& start, const std::string& program_version);
  void OnChatter(Start& start, std::string_view line);
  void OnEnd(Start& start, const BootstrapEnd& end);
  void OnDeadline(Start& start);
  void Rest(Start& start);
  Error TooLate(const Start& start) const;
  // Forgets the host, ends its connection and tells one of the handlers why.
  using EndHandler = decltype(AgentStartHandlers::on_failed);
  void Give(Start& start, EndHandler AgentStartHandlers::*which, Error why,
            bool explained);
  std::unique_ptr<Start> Forget(const std::string& host);

  EventLoop& loop_;
  Bootstrap& bootstrap_;
  Options options_;
  MakePayloadFor make_payload_;
  AgentStartHandlers handlers_;
  std::vector<std::unique_ptr<Start>> starts_;  // in the order of Want()
  std::deque<std::string> queue_;               // due, waiting for their turn
  int wanted_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>();  // see Give()
};

}  // namespace hvd
