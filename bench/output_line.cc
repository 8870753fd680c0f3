#include "bench/output_line.h"

#include <array>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

namespace hvd::bench {
namespace {

// "w0 n00000123 ......filler...... c0123456789abcdef0"
constexpr std::size_t kNumberAt = 4;
constexpr std::size_t kNumberDigits = 8;
constexpr std::size_t kFillerAt = 13;
constexpr std::size_t kSumDigits = 16;
constexpr std::size_t kSumAt = kLineSize - 1 - kSumDigits;
constexpr std::string_view kHexDigits = "0123456789abcdef";

// FNV-1a over eight bytes at a time: a cut or mixed line does not pass, and
// checking costs less than what is measured.
std::uint64_t Checksum(const char* line) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (std::size_t i = 0; i + sizeof sum <= kSumAt; i += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, line + i, sizeof word);
    sum = (sum ^ word) * 0x100000001b3U;
  }
  return sum;
}

void PutHex(char* out, std::uint64_t value) {
  for (std::size_t i = kSumDigits; i-- > 0; value >>= 4U) {
    out[i] = kHexDigits[value & 0xfU];
  }
}

}  // namespace

void WriteLine(char* out, int worker, std::uint32_t number) {
  std::memset(out, '.', kLineSize);
  std::string_view("w0 n").copy(out, 4);
  out[1] = static_cast<char>('0' + worker);
  for (std::size_t i = kNumberDigits; i-- > 0; number /= 10) {
    out[kNumberAt + i] = static_cast<char>('0' + number % 10);
  }
  // Filler that depends on the number, so that no two lines look alike.
  std::memcpy(out + kFillerAt, out + kNumberAt, kNumberDigits);
  PutHex(out + kSumAt, Checksum(out));
  out[kLineSize - 1] = '\n';
}

ParsedLine ParseLine(std::string_view line) {
  ParsedLine parsed;
  if (line.size() != kLineSize - 1 || line[0] != 'w' || line[3] != 'n') {
    return parsed;
  }
  std::array<char, kSumDigits> sum{};
  PutHex(sum.data(), Checksum(line.data()));
  if (std::memcmp(sum.data(), line.data() + kSumAt, kSumDigits) != 0) {
    return parsed;
  }
  parsed.worker = line[1] - '0';
  const char* digits = line.data() + kNumberAt;
  std::from_chars(digits, digits + kNumberDigits, parsed.number);
  parsed.valid = parsed.worker >= 0 && parsed.worker <= 9;
  return parsed;
}

}  // namespace hvd::bench
