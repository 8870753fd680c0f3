// Reads the input as what comes out of the socket between hvdrun and keeper,
// first as commands, then as events. What is accepted can be said again.

#include <string>
#include <string_view>

#include "base/check.h"
#include "fuzz_target.h"
#include "launcher/keeper_protocol.h"

namespace {

template <class Message, class Decode>
void RoundTrip(const Message& message, Decode decode) {
  const auto frame = hvd::EncodeFrame(message);
  HVD_CHECK(frame.ok());
  hvd::FrameReader reader;
  reader.Append(frame.value());
  const auto body = reader.Next();
  HVD_CHECK(body.ok() && body.value());
  const auto again = decode(*body.value());
  HVD_CHECK(again.ok() && again.value() == message);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hvd::FrameReader reader;
  reader.Append({reinterpret_cast<const char*>(data), size});
  for (;;) {
    const auto body = reader.Next();
    if (!body.ok() || !body.value()) return 0;
    const auto command = hvd::DecodeCommand(*body.value());
    if (command.ok()) RoundTrip(command.value(), hvd::DecodeCommand);
    const auto event = hvd::DecodeEvent(*body.value());
    if (event.ok()) RoundTrip(event.value(), hvd::DecodeEvent);
  }
}
