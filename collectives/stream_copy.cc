#include "collectives/stream_copy.h"

#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace hvd {

#ifdef __SSE2__

void StreamCopy(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  const std::size_t head =
      (kLine - reinterpret_cast<std::uintptr_t>(out) % kLine) % kLine;
  if (bytes < head + kLine) {
    std::memcpy(out, in, bytes);
    return;
  }
  std::memcpy(out, in, head);
  out += head;
  in += head;
  bytes -= head;
  for (; bytes >= kLine; bytes -= kLine, out += kLine, in += kLine) {
    const auto* const source = reinterpret_cast<const __m128i*>(in);
    auto* const line = reinterpret_cast<__m128i*>(out);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(line, a);
    _mm_stream_si128(line + 1, b);
    _mm_stream_si128(line + 2, c);
    _mm_stream_si128(line + 3, d);
  }
  std::memcpy(out, in, bytes);
}

void StreamFence() { _mm_sfence(); }

#else

void StreamCopy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void StreamFence() {}

#endif

}  // namespace hvd
