// Kernel loops: the reduce kernels, for whatever instruction set the including
// file is compiled for.
//
// Everything has internal linkage, as in kernel_formats.h. Blocks of four
// vectors are combined in registers over all arrays before they are stored, so
// each kernel has one stream of stores.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "collectives/kernel_formats.h"
#include "collectives/kernel_table.h"

namespace hvd {
namespace {

// ---- operations -------------------------------------------------------------

// Unsigned where T is an integer, so that it wraps.
template <class T>
using Wrapping =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                std::type_identity<T>>::type;

struct Sum {
  template <class T>
  static Vector<T> Of(Vector<T> a, Vector<T> b) {
    using W = Vector<Wrapping<T>>;
    return std::bit_cast<Vector<T>>(std::bit_cast<W>(a) + std::bit_cast<W>(b));
  }
};

struct Product {
  template <class T>
  static Vector<T> Of(Vector<T> a, Vector<T> b) {
    using W = Vector<Wrapping<T>>;
    return std::bit_cast<Vector<T>>(std::bit_cast<W>(a) * std::bit_cast<W>(b));
  }
};

// `a != a` holds for a NaN only; a NaN in `b` fails both comparisons.
struct Min {
  template <class T>
  static Vector<T> Of(Vector<T> a, Vector<T> b) {
    return ((a < b) | (a != a)) ? a : b;
  }
};

struct Max {
  template <class T>
  static Vector<T> Of(Vector<T> a, Vector<T> b) {
    return ((a > b) | (a != a)) ? a : b;
  }
};

template <class T>
Vector<T> Divided(Vector<T> v, Divisor divisor) {
  if constexpr (std::is_integral_v<T>) {
    for (std::size_t i = 0; i < kVectorBytes / sizeof(T); ++i) {
      v[i] = static_cast<T>(std::int64_t{v[i]} / divisor);
    }
    return v;
  } else {
    return v / static_cast<T>(divisor);
  }
}

// ---- kernels ----------------------------------------------------------------

// First: of the first array; Rest: of the others; Out: of what is stored.
template <class Op, class First, class Rest, class Out>
struct Loop {
  using Wide = typename Format<First>::Wide;
  static constexpr std::size_t kElements = Block<Wide>::kElements;
  static constexpr std::size_t kFew = 4;
  static constexpr std::size_t kFirst = Format<First>::kBytes;
  static constexpr std::size_t kRest = Format<Rest>::kBytes;
  static constexpr std::size_t kOut = Format<Out>::kBytes;

  static void Add(Block<Wide>& block, const Block<Wide>& next) {
    block.a = Op::template Of<Wide>(block.a, next.a);
    block.b = Op::template Of<Wide>(block.b, next.b);
    block.c = Op::template Of<Wide>(block.c, next.c);
    block.d = Op::template Of<Wide>(block.d, next.d);
  }

  static void Finish(std::byte* out, Block<Wide> block, Divisor divisor) {
    if (divisor != 1) {
      block = {Divided<Wide>(block.a, divisor), Divided<Wide>(block.b, divisor),
               Divided<Wide>(block.c, divisor),
               Divided<Wide>(block.d, divisor)};
    }
    Format<Out>::Store(out, block);
  }

  // The elements after the last whole block, in one of their own.
  static void Rump(std::byte* out, const std::byte* const* in,
                   std::size_t arrays, std::size_t at, std::size_t count,
                   Divisor divisor) {
    std::array<std::byte, kElements * kFirst> first{};
    std::array<std::byte, kElements * kRest> rest{};
    std::array<std::byte, kElements * kOut> result{};
    std::memcpy(first.data(), in[0] + at * kFirst, count * kFirst);
    Block<Wide> block = Format<First>::Load(first.data());
    for (std::size_t k = 1; k < arrays; ++k) {
      std::memcpy(rest.data(), in[k] + at * kRest, count * kRest);
      Add(block, Format<Rest>::Load(rest.data()));
    }
    Finish(result.data(), block, divisor);
    std::memcpy(out + at * kOut, result.data(), count * kOut);
  }

  // A few elements, each in a vector of its own: with no detour by memory, for
  // the latency of the smallest calls.
  static void Few(std::byte* out, const std::byte* const* in,
                  std::size_t arrays, std::size_t count,
                  Divisor divisor) requires std::is_arithmetic_v<First> {
    const auto load = [](const std::byte* from) {
      First element;
      std::memcpy(&element, from, sizeof(element));
      Vector<First> v{};
      v[0] = element;
      return v;
    };
    for (std::size_t at = 0; at < count * kOut; at += kOut) {
      Vector<First> v = load(in[0] + at);
      for (std::size_t k = 1; k < arrays; ++k) {
        v = Op::template Of<First>(v, load(in[k] + at));
      }
      if (divisor != 1) v = Divided<First>(v, divisor);
      const First element = v[0];
      std::memcpy(out + at, &element, sizeof(element));
    }
  }

  // Whole vectors, where there is no whole block any more: an array of one
  // vector, say, which by way of memory takes longer than to hand it over.
  // From element `at` on; returns where it ends.
  static std::size_t Vectors(std::byte* out, const std::byte* const* in,
                             std::size_t arrays, std::size_t at,
                             std::size_t count, Divisor divisor) {
    constexpr std::size_t kInVector = sizeof(Vector<First>) / sizeof(First);
    const auto load = [](const std::byte* from) {
      Vector<First> v;
      std::memcpy(&v, from, sizeof(v));
      return v;
    };
    for (; at + kInVector <= count; at += kInVector) {
      Vector<First> v = load(in[0] + at * kFirst);
      for (std::size_t k = 1; k < arrays; ++k) {
        v = Op::template Of<First>(v, load(in[k] + at * kFirst));
      }
      if (divisor != 1) v = Divided<First>(v, divisor);
      std::memcpy(out + at * kOut, &v, sizeof(v));
    }
    return at;
  }

  static constexpr bool kPlainArrays = std::is_arithmetic_v<First> &&
                                       std::is_same_v<First, Rest> &&
                                       std::is_same_v<First, Out>;

  static void Run(void* out, const void* const* in, std::size_t arrays,
                  std::size_t count, Divisor divisor) {
    auto* const to = static_cast<std::byte*>(out);
    const auto* const from = reinterpret_cast<const std::byte* const*>(in);
    if constexpr (kPlainArrays) {
      if (count <= kFew) return Few(to, from, arrays, count, divisor);
    }
    std::size_t at = 0;
    for (; at + kElements <= count; at += kElements) {
      Block<Wide> block = Format<First>::Load(from[0] + at * kFirst);
      for (std::size_t k = 1; k < arrays; ++k) {
        Add(block, Format<Rest>::Load(from[k] + at * kRest));
      }
      Finish(to + at * kOut, block, divisor);
    }
    if constexpr (kPlainArrays) {
      at = Vectors(to, from, arrays, at, count, divisor);
    }
    if (at < count) Rump(to, from, arrays, at, count - at, divisor);
  }
};

template <class First, class Rest, class Out>
constexpr std::array<Kernel, kReduceOps> AllOps() {
  return {
      &Loop<Sum, First, Rest, Out>::Run,      // sum
      &Loop<Sum, First, Rest, Out>::Run,      // average
      &Loop<Min, First, Rest, Out>::Run,      // min
      &Loop<Max, First, Rest, Out>::Run,      // max
      &Loop<Product, First, Rest, Out>::Run,  // product
  };
}

template <class T>
constexpr std::array<Kernel, kReduceOps> FormOf(KernelForm form) {
  using Wide = typename Format<T>::Wide;
  if constexpr (std::is_same_v<T, Wide>) {
    return AllOps<T, T, T>();
  } else {
    switch (form) {
      case KernelForm::kPlain:
        return AllOps<T, T, T>();
      case KernelForm::kWiden:
        return AllOps<Ordered<T>, Ordered<T>, Wide>();
      case KernelForm::kJoin:
        return AllOps<Wide, Ordered<T>, Ordered<T>>();
    }
    return {};
  }
}

constexpr KernelTable MakeTable() {
  KernelTable table{};
  for (std::size_t i = 0; i < kKernelForms; ++i) {
    const auto form = static_cast<KernelForm>(i);
    const auto at = [&](DataType type) -> auto& {
      return table[i][static_cast<std::size_t>(type)];
    };
    at(DataType::kInt32) = FormOf<std::int32_t>(form);
    at(DataType::kInt64) = FormOf<std::int64_t>(form);
    at(DataType::kFloat32) = FormOf<float>(form);
    at(DataType::kFloat64) = FormOf<double>(form);
    at(DataType::kUint8) = FormOf<std::uint8_t>(form);
    at(DataType::kInt8) = FormOf<std::int8_t>(form);
    at(DataType::kFloat16) = FormOf<Float16>(form);
    at(DataType::kBfloat16) = FormOf<Bfloat16>(form);
  }
  return table;
}

}  // namespace
}  // namespace hvd
