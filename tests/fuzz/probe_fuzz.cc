// Reads the input as everything that a probe reads from outside: a challenge,
// an answer, the kernel's routes, a user's choice of interfaces.

#include <string>
#include <string_view>

#include "base/check.h"
#include "discovery/interface_choice.h"
#include "discovery/probe_message.h"
#include "fuzz_target.h"

namespace {

constexpr std::string_view kKey = "key";
constexpr std::string_view kNonce = "0123456789abcdef";

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto nonce = hvd::ParseProbeChallenge(kKey, bytes)) {
    HVD_CHECK(bytes == hvd::FormatProbeChallenge(kKey, *nonce));
  }
  if (const auto answer = hvd::ParseProbeAnswer(kKey, kNonce, bytes)) {
    HVD_CHECK(bytes == hvd::FormatProbeAnswer(kKey, kNonce, *answer));
  }

  // What is written reads back, whatever the names are made of.
  const hvd::ProbeAnswer written{
      std::string(bytes.substr(0, hvd::kMaxProbeIdentity)),
      std::string(bytes.substr(size / 2, 46))};
  const std::string text = hvd::FormatProbeAnswer(kKey, kNonce, written);
  HVD_CHECK(text.size() <= hvd::kMaxProbeAnswer);
  HVD_CHECK(hvd::ParseProbeAnswer(kKey, kNonce, text) == written);

  (void)hvd::DefaultRouteInterface(bytes);
  const std::vector<hvd::Interface> none;
  const bool found = hvd::NcclFindsInterface(bytes, none);
  HVD_CHECK(found == bytes.empty());
  return 0;
}
