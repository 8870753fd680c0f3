// AboutCodec: as agent_codec.h, for what an agent says of its machine.
//
// Private to agent_codec.cc.
#pragma once

#include "launcher/agent_message.h"
#include "launcher/proto/agent.pb.h"
#include "launcher/wire_reader.h"

namespace hvd {

void Fill(const AgentAbout& from, agent::About& to);
AgentAbout ReadAbout(const agent::About& from, WireReader& read);

}  // namespace hvd
