// Link messages: how one host measures the way to another, as bytes and back.
//
// It begins as a probe does and is told from one by its first word. Both ends
// give a nonce, and all that follows is signed with a key made of both, so that
// nothing of it can be said again to somebody else or at another time. Only the
// load is not signed: it is counted and thrown away. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "discovery/probe_message.h"

namespace hvd {

inline constexpr std::size_t kLinkNonceBytes = kProbeNonceBytes;
// A listener reads as much of either before it knows which one it is.
inline constexpr std::size_t kLinkHelloBytes = kProbeChallengeBytes;
inline constexpr std::size_t kMaxLinkWelcome =
    4 + kLinkNonceBytes + 1 + kMaxProbeIdentity + 32;
inline constexpr std::size_t kLinkFrameBytes = 4 + 8 + 8 + 32;

struct LinkWelcome {
  std::string nonce;     // of who answers
  std::string identity;  // of its machine
  bool operator==(const LinkWelcome&) const = default;
};

// `nonce`: kLinkNonceBytes, here and below.
std::string FormatLinkHello(std::string_view key, std::string_view nonce);
// The nonce; nullopt: not of this job, or no hello.
std::optional<std::string> ParseLinkHello(std::string_view key,
                                          std::string_view bytes);

// The answer to the hello with `nonce`.
std::string FormatLinkWelcome(std::string_view key, std::string_view nonce,
                              const LinkWelcome& welcome);
// nullopt: not an answer to this hello, or not all of it yet.
std::optional<LinkWelcome> ParseLinkWelcome(std::string_view key,
                                            std::string_view nonce,
                                            std::string_view bytes);

// Signs the frames of one conversation.
std::string LinkKey(std::string_view key, std::string_view dialer_nonce,
                    std::string_view listener_nonce);

enum class LinkWord {
  kPing,      // dialer: `first` is its number, from 0
  kPong,      // listener: the same number
  kLoad,      // dialer: what follows is load, at most `first` bytes; to be
              // counted for at most `second` microseconds
  kReceived,  // listener: so many bytes came in so many microseconds
};

struct LinkFrame {
  LinkWord word{};
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  bool operator==(const LinkFrame&) const = default;
};

// `link_key`: see LinkKey.
std::string FormatLinkFrame(std::string_view link_key, const LinkFrame& frame);
// nullopt: not kLinkFrameBytes, no such word, or signed by somebody else.
std::optional<LinkFrame> ParseLinkFrame(std::string_view link_key,
                                        std::string_view bytes);

}  // namespace hvd
