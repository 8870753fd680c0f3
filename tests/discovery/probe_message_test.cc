#include "discovery/probe_message.h"

#include <catch2/catch.hpp>

namespace hvd {
namespace {

const std::string kKey = "the key of this job's probes";
const std::string kNonce = "0123456789abcdef";

}  // namespace

TEST_CASE("a probe's challenge and answer read back", "[discovery]") {
  const std::string challenge = FormatProbeChallenge(kKey, kNonce);
  CHECK(challenge.size() == kProbeChallengeBytes);
  CHECK(challenge.size() <= 100);
  CHECK(ParseProbeChallenge(kKey, challenge) == kNonce);

  const ProbeAnswer answer{std::string(kMaxProbeIdentity, 'i'),
                           "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"};
  const std::string bytes = FormatProbeAnswer(kKey, kNonce, answer);
  CHECK(bytes.size() <= kMaxProbeAnswer);
  CHECK(ParseProbeAnswer(kKey, kNonce, bytes) == answer);
}

TEST_CASE("a probe's messages are worth nothing with a bit changed or cut",
          "[discovery]") {
  const std::string challenge = FormatProbeChallenge(kKey, kNonce);
  const std::string answer =
      FormatProbeAnswer(kKey, kNonce, {"host-a", "10.0.0.1"});
  for (std::size_t i = 0; i < challenge.size(); ++i) {
    std::string bad = challenge;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    CHECK_FALSE(ParseProbeChallenge(kKey, bad));
    CHECK_FALSE(ParseProbeChallenge(kKey, challenge.substr(0, i)));
  }
  for (std::size_t i = 0; i < answer.size(); ++i) {
    std::string bad = answer;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    CHECK_FALSE(ParseProbeAnswer(kKey, kNonce, bad));
    CHECK_FALSE(ParseProbeAnswer(kKey, kNonce, answer.substr(0, i)));
  }
  CHECK_FALSE(ParseProbeAnswer(kKey, kNonce, answer + "x"));
}

TEST_CASE("a probe's answer is to one challenge of one job", "[discovery]") {
  const std::string answer =
      FormatProbeAnswer(kKey, kNonce, {"host-a", "10.0.0.1"});
  CHECK_FALSE(ParseProbeAnswer(kKey, "another nonce 16", answer));
  CHECK_FALSE(ParseProbeAnswer("another key", kNonce, answer));
  CHECK_FALSE(
      ParseProbeChallenge("another key", FormatProbeChallenge(kKey, kNonce)));
}

}  // namespace hvd
