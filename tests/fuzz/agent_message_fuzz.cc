// Reads the input as each of the messages that hvdrun and an agent send each
// other: what is understood means the same when it is sent on.
#include <string>

#include "base/check.h"
#include "fuzz_target.h"
#include "launcher/agent_codec.h"

namespace {

template <class Wire>
void Digest(const std::string& bytes) {
  Wire wire;
  if (!wire.ParseFromString(bytes)) return;
  const auto message = hvd::FromWire(std::move(wire));
  if (!message.ok()) {
    HVD_CHECK(!message.error().message().empty());
    return;
  }
  const auto again = hvd::FromWire(hvd::ToWire(message.value()));
  HVD_CHECK(again.ok());
  HVD_CHECK(again.value() == message.value());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  Digest<hvd::agent::AgentCommand>(bytes);
  Digest<hvd::agent::AgentEvent>(bytes);
  Digest<hvd::agent::WorkerBytes>(bytes);
  return 0;
}
