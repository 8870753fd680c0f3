// HmacSha256: the signature on everything that crosses a socket (RFC 2104).
//
// Our own because libhvd may not bring OpenSSL into a user's process; tested
// against the RFC 4231 vectors and OpenSSL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hvd {

class Sha256 {
 public:
  Sha256();
  void Update(std::string_view data);
  std::array<std::uint8_t, 32> Finish();  // the object is spent afterwards

 private:
  void Block(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> buffer_{};
  std::size_t buffered_ = 0;
  std::uint64_t length_ = 0;  // bytes
};

// 32 bytes. `parts` are signed as one message, so callers need not join them;
// they must be delimited by the caller where their borders carry meaning.
std::string HmacSha256(std::string_view key,
                       std::span<const std::string_view> parts);
std::string HmacSha256(std::string_view key, std::string_view message);

// Time depends on the lengths only.
bool EqualInConstantTime(std::string_view a, std::string_view b);

}  // namespace hvd
