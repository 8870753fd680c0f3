#include "discovery/probe_message.h"

#include <array>

#include "base/hmac_sha256.h"

namespace hvd {
namespace {

// The two say different things under one key: neither can stand for the other.
constexpr std::string_view kChallengeMagic = "HVP?";
constexpr std::string_view kAnswerMagic = "HVP!";
constexpr std::size_t kMacBytes = 32;
constexpr std::size_t kMaxAddress = 46;  // longest literal of an IPv6 address

std::string ChallengeMac(std::string_view key, std::string_view nonce) {
  const std::array<std::string_view, 2> parts = {kChallengeMagic, nonce};
  return HmacSha256(key, parts);
}

// Both lengths stand in `fields`, so no byte can move from one to another.
std::string AnswerMac(std::string_view key, std::string_view nonce,
                      std::string_view fields) {
  const std::array<std::string_view, 3> parts = {kAnswerMagic, nonce, fields};
  return HmacSha256(key, parts);
}

// One byte of length, then that many; nullopt: fewer are there, or too long.
std::optional<std::string_view> TakeField(std::string_view& bytes,
                                          std::size_t max) {
  if (bytes.empty()) return std::nullopt;
  const auto length = static_cast<unsigned char>(bytes.front());
  if (length > max || bytes.size() < 1U + length) return std::nullopt;
  const std::string_view field = bytes.substr(1, length);
  bytes.remove_prefix(1U + length);
  return field;
}

void AppendField(std::string& out, std::string_view field) {
  out += static_cast<char>(field.size());
  out += field;
}

}  // namespace

std::string FormatProbeChallenge(std::string_view key, std::string_view nonce) {
  std::string bytes(kChallengeMagic);
  bytes += nonce;
  bytes += ChallengeMac(key, nonce);
  return bytes;
}

std::optional<std::string> ParseProbeChallenge(std::string_view key,
                                               std::string_view bytes) {
  if (bytes.size() != kProbeChallengeBytes ||
      !bytes.starts_with(kChallengeMagic)) {
    return std::nullopt;
  }
  const std::string_view nonce =
      bytes.substr(kChallengeMagic.size(), kProbeNonceBytes);
  const std::string_view mac =
      bytes.substr(kChallengeMagic.size() + kProbeNonceBytes);
  if (!EqualInConstantTime(mac, ChallengeMac(key, nonce))) return std::nullopt;
  return std::string(nonce);
}

std::string FormatProbeAnswer(std::string_view key, std::string_view nonce,
                              const ProbeAnswer& answer) {
  std::string fields;
  AppendField(fields,
              std::string_view(answer.identity).substr(0, kMaxProbeIdentity));
  AppendField(fields, std::string_view(answer.address).substr(0, kMaxAddress));
  return std::string(kAnswerMagic) + fields + AnswerMac(key, nonce, fields);
}

std::optional<ProbeAnswer> ParseProbeAnswer(std::string_view key,
                                            std::string_view nonce,
                                            std::string_view bytes) {
  if (!bytes.starts_with(kAnswerMagic)) return std::nullopt;
  bytes.remove_prefix(kAnswerMagic.size());
  std::string_view rest = bytes;
  const auto identity = TakeField(rest, kMaxProbeIdentity);
  if (!identity) return std::nullopt;
  const auto address = TakeField(rest, kMaxAddress);
  if (!address || rest.size() != kMacBytes) return std::nullopt;
  const std::string_view fields = bytes.substr(0, bytes.size() - kMacBytes);
  if (!EqualInConstantTime(rest, AnswerMac(key, nonce, fields))) {
    return std::nullopt;
  }
  return ProbeAnswer{std::string(*identity), std::string(*address)};
}

}  // namespace hvd
