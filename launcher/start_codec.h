// StartCodec: as agent_codec.h, for what is said about agents that agents
// start.
//
// Private to agent_codec.cc.
#pragma once

#include "launcher/agent_message.h"
#include "launcher/proto/agent.pb.h"
#include "launcher/wire_reader.h"

namespace hvd {

void Fill(const AgentStartOther& from, agent::StartOther& to);
AgentStartOther ReadStartOther(const agent::StartOther& from, WireReader& read);

void Fill(const AgentOtherEnded& from, agent::OtherEnded& to);
AgentOtherEnded ReadOtherEnded(const agent::OtherEnded& from, WireReader& read);

}  // namespace hvd
