#include "base/hmac_sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hvd {
namespace {

constexpr std::size_t kBlock = 64;

// FIPS 180-4, 4.2.2.
constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t LoadBigEndian(const std::uint8_t* p) {
  return static_cast<std::uint32_t>(p[0]) << 24U |
         static_cast<std::uint32_t>(p[1]) << 16U |
         static_cast<std::uint32_t>(p[2]) << 8U |
         static_cast<std::uint32_t>(p[3]);
}

void StoreBigEndian(std::uint32_t value, std::uint8_t* p) {
  for (unsigned i = 0; i < 4; ++i) {
    p[i] = static_cast<std::uint8_t>(value >> (24U - 8U * i));
  }
}

std::string Digest(std::string_view prefix,
                   std::span<const std::string_view> parts) {
  Sha256 hash;
  hash.Update(prefix);
  for (const std::string_view part : parts) hash.Update(part);
  const auto digest = hash.Finish();
  return {digest.begin(), digest.end()};
}

}  // namespace

Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::Update(std::string_view data) {
  length_ += data.size();
  while (!data.empty()) {
    const std::size_t n = std::min(data.size(), kBlock - buffered_);
    std::memcpy(buffer_.data() + buffered_, data.data(), n);
    buffered_ += n;
    data.remove_prefix(n);
    if (buffered_ == kBlock) {
      Block(buffer_.data());
      buffered_ = 0;
    }
  }
}

std::array<std::uint8_t, 32> Sha256::Finish() {
  const std::uint64_t bits = length_ * 8;
  buffer_[buffered_++] = 0x80;
  if (buffered_ > kBlock - 8) {
    std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(buffered_),
              buffer_.end(), std::uint8_t{0});
    Block(buffer_.data());
    buffered_ = 0;
  }
  std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(buffered_),
            buffer_.end(), std::uint8_t{0});
  StoreBigEndian(static_cast<std::uint32_t>(bits >> 32U), &buffer_[56]);
  StoreBigEndian(static_cast<std::uint32_t>(bits), &buffer_[60]);
  Block(buffer_.data());
  std::array<std::uint8_t, 32> out{};
  for (std::size_t i = 0; i < 8; ++i) StoreBigEndian(state_[i], &out[4 * i]);
  return out;
}

// FIPS 180-4, 6.2.2; the letters are the standard's.
void Sha256::Block(const std::uint8_t* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i) w[i] = LoadBigEndian(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t s0 =
        std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3U);
    const std::uint32_t s1 =
        std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10U);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 =
        std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t choose = (e & f) ^ (~e & g);
    const std::uint32_t t1 = h + s1 + choose + kRound[i] + w[i];
    const std::uint32_t s0 =
        std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += add[i];
}

std::string HmacSha256(std::string_view key,
                       std::span<const std::string_view> parts) {
  std::string padded(key.size() > kBlock ? Digest("", std::array{key})
                                         : std::string(key));
  padded.resize(kBlock, '\0');
  std::string inner = padded;
  std::string outer = padded;
  for (std::size_t i = 0; i < kBlock; ++i) {
    inner[i] = static_cast<char>(inner[i] ^ 0x36);
    outer[i] = static_cast<char>(outer[i] ^ 0x5c);
  }
  const std::string digest = Digest(inner, parts);
  return Digest(outer, std::array{std::string_view(digest)});
}

std::string HmacSha256(std::string_view key, std::string_view message) {
  return HmacSha256(key, std::array{message});
}

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^
                  static_cast<unsigned>(static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

}  // namespace hvd
