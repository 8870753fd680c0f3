#include "discovery/link_message.h"

#include <catch2/catch.hpp>

namespace hvd {
namespace {

const std::string kKey = "the key of this job's probes";
const std::string kNonce = "0123456789abcdef";
const std::string kOther = "fedcba9876543210";
const std::string kLink = LinkKey(kKey, kNonce, kOther);

// Not one bit of `bytes` may be another, nor be missing.
template <class Parse>
void CheckEveryBit(const std::string& bytes, const Parse& parse) {
  CHECK(parse(bytes).has_value());
  CHECK_FALSE(parse(bytes + "x").has_value());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    CHECK_FALSE(parse(bad).has_value());
    CHECK_FALSE(parse(bytes.substr(0, i)).has_value());
  }
}

}  // namespace

TEST_CASE("the messages of a link read back", "[discovery]") {
  CHECK(ParseLinkHello(kKey, FormatLinkHello(kKey, kNonce)) == kNonce);
  for (const std::size_t length : {std::size_t{0}, kMaxProbeIdentity}) {
    const LinkWelcome welcome{kOther, std::string(length, 'i')};
    const std::string bytes = FormatLinkWelcome(kKey, kNonce, welcome);
    CHECK(bytes.size() <= kMaxLinkWelcome);
    CHECK(ParseLinkWelcome(kKey, kNonce, bytes) == welcome);
  }
  for (const LinkWord word : {LinkWord::kPing, LinkWord::kPong, LinkWord::kLoad,
                              LinkWord::kReceived}) {
    const LinkFrame frame{word, ~std::uint64_t{0}, 0x0102030405060708};
    const std::string bytes = FormatLinkFrame(kLink, frame);
    CHECK(bytes.size() == kLinkFrameBytes);
    CHECK(ParseLinkFrame(kLink, bytes) == frame);
  }
}

TEST_CASE("the messages of a link are worth nothing with a bit changed or cut",
          "[discovery]") {
  CheckEveryBit(FormatLinkHello(kKey, kNonce), [](const std::string& bytes) {
    return ParseLinkHello(kKey, bytes);
  });
  CheckEveryBit(FormatLinkWelcome(kKey, kNonce, {kOther, "host-a"}),
                [](const std::string& bytes) {
                  return ParseLinkWelcome(kKey, kNonce, bytes);
                });
  CheckEveryBit(
      FormatLinkFrame(kLink, {LinkWord::kPing, 3, 0}),
      [](const std::string& bytes) { return ParseLinkFrame(kLink, bytes); });
}

TEST_CASE("what was said on one link means nothing on another", "[discovery]") {
  const std::string ping = FormatLinkFrame(kLink, {LinkWord::kPing, 0, 0});
  CHECK_FALSE(ParseLinkFrame(LinkKey(kKey, kNonce, kNonce), ping));
  CHECK_FALSE(ParseLinkFrame(LinkKey(kKey, kOther, kNonce), ping));
  CHECK_FALSE(ParseLinkFrame(LinkKey("another key", kNonce, kOther), ping));
  const std::string welcome = FormatLinkWelcome(kKey, kNonce, {kOther, "a"});
  CHECK_FALSE(ParseLinkWelcome(kKey, kOther, welcome));
  CHECK_FALSE(ParseLinkHello("another key", FormatLinkHello(kKey, kNonce)));
}

TEST_CASE("a probe and a link cannot be taken for each other", "[discovery]") {
  CHECK_FALSE(ParseLinkHello(kKey, FormatProbeChallenge(kKey, kNonce)));
  CHECK_FALSE(ParseProbeChallenge(kKey, FormatLinkHello(kKey, kNonce)));
}

}  // namespace hvd
