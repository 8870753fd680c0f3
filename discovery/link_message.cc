#include "discovery/link_message.h"

#include <array>

#include "base/hmac_sha256.h"

namespace hvd {
namespace {

constexpr std::string_view kHello = "HVM?";
constexpr std::string_view kWelcome = "HVM!";
constexpr std::string_view kKeyLabel = "HVMK";
constexpr std::array<std::string_view, 4> kWords = {"HVMp", "HVMa", "HVMl",
                                                    "HVMr"};
constexpr std::size_t kWordBytes = 4;
constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kMacBytes = 32;

// All parts but the last have one length each, so no byte can move.
std::string Mac(std::string_view key, std::string_view word,
                std::string_view nonce, std::string_view rest) {
  const std::array<std::string_view, 3> parts = {word, nonce, rest};
  return HmacSha256(key, parts);
}

void AppendNumber(std::string& out, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    out += static_cast<char>((number >> shift) & 0xff);
  }
}

std::uint64_t ReadNumber(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes.substr(0, kNumberBytes)) {
    number = number << 8 | static_cast<unsigned char>(byte);
  }
  return number;
}

}  // namespace

std::string FormatLinkHello(std::string_view key, std::string_view nonce) {
  std::string bytes(kHello);
  bytes += nonce;
  return bytes += Mac(key, kHello, nonce, "");
}

std::optional<std::string> ParseLinkHello(std::string_view key,
                                          std::string_view bytes) {
  if (bytes.size() != kLinkHelloBytes || !bytes.starts_with(kHello)) {
    return std::nullopt;
  }
  const std::string_view nonce = bytes.substr(kHello.size(), kLinkNonceBytes);
  const std::string_view mac = bytes.substr(kHello.size() + kLinkNonceBytes);
  if (!EqualInConstantTime(mac, Mac(key, kHello, nonce, ""))) {
    return std::nullopt;
  }
  return std::string(nonce);
}

std::string FormatLinkWelcome(std::string_view key, std::string_view nonce,
                              const LinkWelcome& welcome) {
  const std::string_view identity =
      std::string_view(welcome.identity).substr(0, kMaxProbeIdentity);
  std::string fields = welcome.nonce;
  fields += static_cast<char>(identity.size());
  fields += identity;
  return std::string(kWelcome) + fields + Mac(key, kWelcome, nonce, fields);
}

std::optional<LinkWelcome> ParseLinkWelcome(std::string_view key,
                                            std::string_view nonce,
                                            std::string_view bytes) {
  constexpr std::size_t kFixed = kWordBytes + kLinkNonceBytes + 1 + kMacBytes;
  if (bytes.size() < kFixed || !bytes.starts_with(kWelcome)) {
    return std::nullopt;
  }
  const auto length =
      static_cast<unsigned char>(bytes[kWordBytes + kLinkNonceBytes]);
  if (length > kMaxProbeIdentity || bytes.size() != kFixed + length) {
    return std::nullopt;
  }
  const std::string_view fields =
      bytes.substr(kWordBytes, bytes.size() - kWordBytes - kMacBytes);
  const std::string_view mac = bytes.substr(bytes.size() - kMacBytes);
  if (!EqualInConstantTime(mac, Mac(key, kWelcome, nonce, fields))) {
    return std::nullopt;
  }
  return LinkWelcome{std::string(fields.substr(0, kLinkNonceBytes)),
                     std::string(fields.substr(kLinkNonceBytes + 1))};
}

std::string LinkKey(std::string_view key, std::string_view dialer_nonce,
                    std::string_view listener_nonce) {
  return Mac(key, kKeyLabel, dialer_nonce, listener_nonce);
}

std::string FormatLinkFrame(std::string_view link_key, const LinkFrame& frame) {
  std::string bytes(kWords.at(static_cast<std::size_t>(frame.word)));
  AppendNumber(bytes, frame.first);
  AppendNumber(bytes, frame.second);
  return bytes += HmacSha256(link_key, bytes);
}

std::optional<LinkFrame> ParseLinkFrame(std::string_view link_key,
                                        std::string_view bytes) {
  if (bytes.size() != kLinkFrameBytes) return std::nullopt;
  const std::string_view said = bytes.substr(0, kLinkFrameBytes - kMacBytes);
  if (!EqualInConstantTime(bytes.substr(said.size()),
                           HmacSha256(link_key, said))) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (!said.starts_with(kWords[i])) continue;
    return LinkFrame{static_cast<LinkWord>(i),
                     ReadNumber(said.substr(kWordBytes)),
                     ReadNumber(said.substr(kWordBytes + kNumberBytes))};
  }
  return std::nullopt;
}

}  // namespace hvd
