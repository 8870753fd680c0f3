// Probe messages: what a probe asks and how a host answers, as bytes and back.
//
// A challenge is signed with the key of the job's probes, so that nobody else
// gets an answer; the answer is signed over the challenge, so that it proves
// which host answered and at which of its addresses. What the network says is
// data: whatever does not fit is nullopt. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hvd {

inline constexpr std::size_t kProbeNonceBytes = 16;
inline constexpr std::size_t kProbeChallengeBytes = 4 + kProbeNonceBytes + 32;
// Longest identity of a host, in bytes.
inline constexpr std::size_t kMaxProbeIdentity = 64;
inline constexpr std::size_t kMaxProbeAnswer =
    4 + 2 + kMaxProbeIdentity + 46 + 32;

struct ProbeAnswer {
  std::string identity;  // whose listener it is
  std::string address;   // of the host that answered, as it sees it itself
  bool operator==(const ProbeAnswer&) const = default;
};

// `nonce`: kProbeNonceBytes.
std::string FormatProbeChallenge(std::string_view key, std::string_view nonce);
// The nonce; nullopt: not of this job.
std::optional<std::string> ParseProbeChallenge(std::string_view key,
                                               std::string_view bytes);

std::string FormatProbeAnswer(std::string_view key, std::string_view nonce,
                              const ProbeAnswer& answer);
// nullopt: not an answer to this challenge, or not all of it yet; one that is
// longer than kMaxProbeAnswer never will be.
std::optional<ProbeAnswer> ParseProbeAnswer(std::string_view key,
                                            std::string_view nonce,
                                            std::string_view bytes);

}  // namespace hvd
