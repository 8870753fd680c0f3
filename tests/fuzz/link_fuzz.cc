// Reads the input as everything that the two ends of a measured link read from
// outside: a hello, a welcome, a frame.

#include <string>
#include <string_view>

#include "base/check.h"
#include "discovery/link_message.h"
#include "fuzz_target.h"

namespace {

constexpr std::string_view kKey = "key";
constexpr std::string_view kNonce = "0123456789abcdef";

std::uint64_t Number(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes.substr(0, 8)) {
    number = number << 8U | static_cast<unsigned char>(byte);
  }
  return number;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto nonce = hvd::ParseLinkHello(kKey, bytes)) {
    HVD_CHECK(bytes == hvd::FormatLinkHello(kKey, *nonce));
  }
  if (const auto welcome = hvd::ParseLinkWelcome(kKey, kNonce, bytes)) {
    HVD_CHECK(bytes == hvd::FormatLinkWelcome(kKey, kNonce, *welcome));
  }
  if (const auto frame = hvd::ParseLinkFrame(kKey, bytes)) {
    HVD_CHECK(bytes == hvd::FormatLinkFrame(kKey, *frame));
  }

  // What is written reads back, whatever it is made of.
  const hvd::LinkWelcome welcome{
      std::string(kNonce),
      std::string(bytes.substr(0, hvd::kMaxProbeIdentity))};
  const std::string text = hvd::FormatLinkWelcome(kKey, kNonce, welcome);
  HVD_CHECK(text.size() <= hvd::kMaxLinkWelcome);
  HVD_CHECK(hvd::ParseLinkWelcome(kKey, kNonce, text) == welcome);
  const hvd::LinkFrame frame{static_cast<hvd::LinkWord>(size % 4),
                             Number(bytes), Number(bytes.substr(size / 2))};
  HVD_CHECK(hvd::ParseLinkFrame(kKey, hvd::FormatLinkFrame(kKey, frame)) ==
            frame);
  return 0;
}
