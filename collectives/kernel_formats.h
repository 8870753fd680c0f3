// Kernel formats: how elements lie in memory, and how they come into vectors
// and back, for whatever instruction set the including file is compiled for.
//
// Everything has internal linkage: the linker must not take one set's code for
// another's. Vectors are the compiler's (gcc and clang), as long as the
// processor's.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "collectives/half.h"

namespace hvd {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t kVectorBytes = 32;
#else
constexpr std::size_t kVectorBytes = 16;
#endif

template <class T>
struct VectorOf {
  using Type [[gnu::vector_size(kVectorBytes)]] = T;
  using InMemory
      [[gnu::vector_size(kVectorBytes), gnu::aligned(1), gnu::may_alias]] = T;
};
template <class T>
using Vector = typename VectorOf<T>::Type;

template <class T>
Vector<T> LoadVector(const std::byte* from) {
  return *reinterpret_cast<const typename VectorOf<T>::InMemory*>(from);
}
template <class T>
void StoreVector(std::byte* to, Vector<T> v) {
  *reinterpret_cast<typename VectorOf<T>::InMemory*>(to) = v;
}

// What is held in registers. An array would be kept in memory.
template <class T>
struct Block {
  static constexpr std::size_t kElements = 4 * kVectorBytes / sizeof(T);
  Vector<T> a, b, c, d;
};

// ---- elements in memory to blocks and back ----------------------------------

// How elements of type Stored lie in memory, and what they are computed in.
template <class Stored>
struct Format {
  using Wide = Stored;
  static constexpr std::size_t kBytes = sizeof(Stored);  // of one element
  static Block<Wide> Load(const std::byte* from) {
    return {LoadVector<Wide>(from), LoadVector<Wide>(from + kVectorBytes),
            LoadVector<Wide>(from + 2 * kVectorBytes),
            LoadVector<Wide>(from + 3 * kVectorBytes)};
  }
  static void Store(std::byte* to, const Block<Wide>& block) {
    StoreVector<Wide>(to, block.a);
    StoreVector<Wide>(to + kVectorBytes, block.b);
    StoreVector<Wide>(to + 2 * kVectorBytes, block.c);
    StoreVector<Wide>(to + 3 * kVectorBytes, block.d);
  }
};

using Floats = Vector<float>;
using Words = Vector<std::uint32_t>;

bool AnyNan(const Block<float>& block) {
#if defined(__AVX512F__)
  return (_mm512_cmp_ps_mask(block.a, block.b, _CMP_UNORD_Q) |
          _mm512_cmp_ps_mask(block.c, block.d, _CMP_UNORD_Q)) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_ps(
             _mm256_or_ps(_mm256_cmp_ps(block.a, block.b, _CMP_UNORD_Q),
                          _mm256_cmp_ps(block.c, block.d, _CMP_UNORD_Q))) != 0;
#else
  const auto nan = (block.a != block.a) | (block.b != block.b) |
                   (block.c != block.c) | (block.d != block.d);
  using Longs = std::array<std::uint64_t, kVectorBytes / 8>;
  std::uint64_t any = 0;
  for (const std::uint64_t some : std::bit_cast<Longs>(nan)) any |= some;
  return any != 0;
#endif
}

// Of a number: the nearest one whose lower half is zero, but for that half.
Words RoundedToUpperHalf(Floats v) {
  const auto bits = std::bit_cast<Words>(v);
  return bits + 0x7fffU + ((bits >> 16U) & 1U);
}

// Elements in pairs: a vector of them becomes two of floats, those of even
// index and the others, with one instruction each, and as few on the way back.
// The order within a block is not that in memory.
template <>
struct Format<Bfloat16> {
  using Wide = float;
  static constexpr std::size_t kBytes = 2;
  static Block<float> Load(const std::byte* from) {
    const auto pairs = LoadVector<std::uint32_t>(from);
    const auto more = LoadVector<std::uint32_t>(from + kVectorBytes);
    return {std::bit_cast<Floats>(pairs << 16U),
            std::bit_cast<Floats>(pairs & 0xffff0000U),
            std::bit_cast<Floats>(more << 16U),
            std::bit_cast<Floats>(more & 0xffff0000U)};
  }
  static void Store(std::byte* to, const Block<float>& block) {
    if (AnyNan(block)) {
      StoreSlowly(to, block.a, block.b);
      StoreSlowly(to + kVectorBytes, block.c, block.d);
      return;
    }
    StoreVector<std::uint32_t>(to, Pairs(block.a, block.b));
    StoreVector<std::uint32_t>(to + kVectorBytes, Pairs(block.c, block.d));
  }

 private:
  static Words Pairs(Floats even, Floats odd) {
    return RoundedToUpperHalf(even) >> 16U |
           (RoundedToUpperHalf(odd) & 0xffff0000U);
  }
  [[gnu::noinline]] static void StoreSlowly(std::byte* to, Floats even,
                                            Floats odd) {
    std::array<Bfloat16, kVectorBytes / sizeof(Bfloat16)> halves;
    for (std::size_t i = 0; i < halves.size(); i += 2) {
      halves[i] = ToBfloat16(even[i / 2]);
      halves[i + 1] = ToBfloat16(odd[i / 2]);
    }
    std::memcpy(to, halves.data(), sizeof(halves));
  }
};

// As many 16-bit floats as there are floats in a vector.
constexpr std::size_t kHalfVector = kVectorBytes / 2;

template <>
struct Format<Float16> {
  using Wide = float;
  static constexpr std::size_t kBytes = 2;
  static Block<float> Load(const std::byte* from) {
    return {Widen(from), Widen(from + kHalfVector),
            Widen(from + 2 * kHalfVector), Widen(from + 3 * kHalfVector)};
  }
  static void Store(std::byte* to, const Block<float>& block) {
    Narrow(to, block.a);
    Narrow(to + kHalfVector, block.b);
    Narrow(to + 2 * kHalfVector, block.c);
    Narrow(to + 3 * kHalfVector, block.d);
  }

 private:
#if defined(__AVX512F__)
  static Floats Widen(const std::byte* from) {
    return _mm512_cvtph_ps(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static void Narrow(std::byte* to, Floats v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
  }
#elif defined(__AVX2__)
  static Floats Widen(const std::byte* from) {
    return _mm256_cvtph_ps(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static void Narrow(std::byte* to, Floats v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
  }
#else
  using Halves = std::array<Float16, kHalfVector / sizeof(Float16)>;
  static Floats Widen(const std::byte* from) {
    Halves halves;
    std::memcpy(&halves, from, sizeof(halves));
    Floats v{};
    for (std::size_t i = 0; i < halves.size(); ++i) v[i] = ToFloat(halves[i]);
    return v;
  }
  static void Narrow(std::byte* to, Floats v) {
    Halves halves;
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = ToFloat16(v[i]);
    std::memcpy(to, &halves, sizeof(halves));
  }
#endif
};

// Elements whose order counts, because they meet floats from memory.
template <class Stored>
struct Ordered {};

template <>
struct Format<Ordered<Float16>> : Format<Float16> {};

template <>
struct Format<Ordered<Bfloat16>> {
  using Wide = float;
  static constexpr std::size_t kBytes = 2;
  static Block<float> Load(const std::byte* from) {
    return {Widen(from), Widen(from + kHalfVector),
            Widen(from + 2 * kHalfVector), Widen(from + 3 * kHalfVector)};
  }
  static void Store(std::byte* to, const Block<float>& block) {
    std::array<float, Block<float>::kElements> floats;
    Format<float>::Store(std::as_writable_bytes(std::span(floats)).data(),
                         block);
    std::array<Bfloat16, Block<float>::kElements> halves;
    for (std::size_t i = 0; i < halves.size(); ++i) {
      halves[i] = ToBfloat16(floats[i]);
    }
    std::memcpy(to, &halves, sizeof(halves));
  }

 private:
  using Halves
      [[gnu::vector_size(kHalfVector), gnu::aligned(1), gnu::may_alias]] =
          std::uint16_t;
  static Floats Widen(const std::byte* from) {
    const Halves halves = *reinterpret_cast<const Halves*>(from);
    return std::bit_cast<Floats>(__builtin_convertvector(halves, Words) << 16U);
  }
};

}  // namespace
}  // namespace hvd
