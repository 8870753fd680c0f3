// MeasureCodec: as agent_codec.h, for what is said about clocks and links that
// are measured.
//
// Private to agent_codec.cc.
#pragma once

#include "launcher/agent_message.h"
#include "launcher/proto/agent.pb.h"
#include "launcher/wire_reader.h"

namespace hvd {

void Fill(const AgentMeasure& from, agent::Measure& to);
AgentMeasure ReadMeasure(const agent::Measure& from, WireReader& read);

void Fill(const AgentTime& from, agent::Time& to);
AgentTime ReadTime(const agent::Time& from, WireReader& read);

void Fill(const AgentMeasured& from, agent::Measured& to);
AgentMeasured ReadMeasured(const agent::Measured& from, WireReader& read);

}  // namespace hvd
