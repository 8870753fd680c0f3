// AgentCodec: agent_message.h as protobuf and back.
//
// Pure. kInvalidArgument: the other end said something that cannot be meant.
// Private to the two ends of an agent's connection: protobuf's headers are
// heavy.
#pragma once

#include "launcher/agent_message.h"
#include "launcher/proto/agent.pb.h"
#include "launcher/worker_bytes.h"

namespace hvd {

agent::AgentCommand ToWire(const AgentCommand& command);
Result<AgentCommand> FromWire(const agent::AgentCommand& command);

agent::AgentEvent ToWire(const AgentEvent& event);
Result<AgentEvent> FromWire(const agent::AgentEvent& event);

agent::WorkerBytes ToWire(WorkerBytes bytes);
Result<WorkerBytes> FromWire(agent::WorkerBytes&& bytes);

}  // namespace hvd
