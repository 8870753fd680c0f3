#include "base/base64.h"

#include <cstdint>

namespace hvd {
namespace {

std::optional<std::uint32_t> SixBits(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const std::optional<std::uint32_t> six = SixBits(c);
    if (!six) return std::nullopt;
    held = (held << 6U | *six) & 0xFFFFU;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xFFU);
  }
  if ((held & ((1U << bits) - 1U)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace hvd
