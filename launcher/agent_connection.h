// AgentConnection: one end of the connection between hvdrun and an agent, two
// streams in each direction: messages, and the bytes that workers write or
// read.
//
// Messages never wait behind bytes. It knows nothing of what it carries, and
// not whether the other end is well: only whether the connection is.
//
// Loop thread only. Handlers run on the loop, never from inside a call, and
// never after destruction, which breaks the connection at once.
#pragma once

#include <functional>

#include "base/result.h"
#include "launcher/agent_message.h"
#include "launcher/worker_bytes.h"

namespace hvd {

template <class Sent, class Received>
class AgentConnection {
 public:
  struct Handlers {
    std::function<void(Received)> on_message;
    // One piece; the next comes after ReadMore().
    std::function<void(WorkerBytes)> on_bytes;
    // The oldest piece that SendBytes() got has gone.
    std::function<void()> on_bytes_sent;
    // Both ends are done with each other, for this reason. Once, and last.
    std::function<void(Error)> on_closed;
  };

  virtual ~AgentConnection() = default;

  // Once, before anything else.
  virtual void Start(Handlers handlers) = 0;
  virtual void Send(Sent message) = 0;
  // Queued whatever the other end takes: the caller minds on_bytes_sent.
  virtual void SendBytes(WorkerBytes bytes) = 0;
  virtual void ReadMore() = 0;
  // Says a last thing and closes in order, though this be destroyed meanwhile.
  // To be destroyed next: nothing else may be called.
  virtual void Finish(Sent last) = 0;
};

using AgentLink = AgentConnection<AgentCommand, AgentEvent>;    // hvdrun's end
using AgentUplink = AgentConnection<AgentEvent, AgentCommand>;  // the agent's

}  // namespace hvd
