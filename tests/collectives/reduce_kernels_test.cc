#include "collectives/reduce_kernels.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "collectives/half.h"
#include "tests/collectives/reference.h"

namespace hvd {
namespace {

using namespace testing;

constexpr std::array kSets{InstructionSet::kBaseline, InstructionSet::kAvx2,
                           InstructionSet::kAvx512};
constexpr std::array kOps{ReduceOp::kSum, ReduceOp::kAverage, ReduceOp::kMin,
                          ReduceOp::kMax, ReduceOp::kProduct};

// Arrays at addresses that are no multiple of anything.
template <class T>
class Misaligned {
 public:
  explicit Misaligned(const std::vector<T>& values)
      : bytes_(values.size() * sizeof(T) + 1) {
    if (values.empty()) return;
    std::memcpy(data(), values.data(), values.size() * sizeof(T));
  }
  std::byte* data() { return bytes_.data() + 1; }
  std::vector<T> values() {
    std::vector<T> values((bytes_.size() - 1) / sizeof(T));
    if (!values.empty()) {
      std::memcpy(values.data(), data(), bytes_.size() - 1);
    }
    return values;
  }

 private:
  std::vector<std::byte> bytes_;
};

template <class T>
std::vector<T> Reduced(Kernel kernel, int arrays, std::size_t count,
                       Divisor divisor) {
  std::vector<Misaligned<T>> in;
  std::vector<const void*> pointers;
  for (int rank = 0; rank < arrays; ++rank) {
    in.emplace_back(ArrayOf<T>(rank, count));
  }
  for (Misaligned<T>& array : in) pointers.push_back(array.data());
  Misaligned<T> out{std::vector<T>(count)};
  kernel(out.data(), pointers.data(), pointers.size(), count, divisor);
  return out.values();
}

template <class T>
std::vector<T> Combined(std::vector<T> a, const std::vector<T>& b,
                        ReduceOp op) {
  const std::array<const void*, 2> in{a.data(), b.data()};
  Reduce(KernelForm::kPlain, a.data(), in, a.size(), DataTypeFor<T>::kValue,
         op);
  return a;
}

}  // namespace

TEMPLATE_TEST_CASE("Every kernel agrees with plain arithmetic in long double",
                   "[collectives]", std::uint8_t, std::int8_t, std::int32_t,
                   std::int64_t, Float16, Bfloat16, float, double) {
  using T = TestType;
  for (const InstructionSet set : kSets) {
    for (const ReduceOp op : kOps) {
      const Kernel kernel =
          KernelOf(set, KernelForm::kPlain, DataTypeFor<T>::kValue, op);
      if (kernel == nullptr) continue;  // not of this processor
      for (const int arrays : {1, 2, 3, 5, 8}) {
        for (const std::size_t count : {0UL, 1UL, 3UL, 31UL, 64UL, 1001UL}) {
          INFO(Name(set) << ' ' << Name(op) << ' ' << arrays << " arrays of "
                         << count);
          const std::vector<T> out = Reduced<T>(
              kernel, arrays, count, op == ReduceOp::kAverage ? arrays : 1);
          std::size_t wrong = 0;
          for (std::size_t i = 0; i < count; ++i) {
            // 16 bits are rounded once, from f32.
            if (!Agrees(out[i], ReducedElement<T>(arrays, i, op), arrays, op,
                        sizeof(T) == 2 ? arrays : 2 * arrays)) {
              ++wrong;
            }
          }
          CHECK(wrong == 0);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("All instruction sets give the same bits", "[collectives]",
                   std::uint8_t, std::int8_t, std::int32_t, std::int64_t,
                   Float16, Bfloat16, float, double) {
  using T = TestType;
  for (const InstructionSet set :
       {InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    for (const ReduceOp op : kOps) {
      const auto with = [&](InstructionSet s) {
        return KernelOf(s, KernelForm::kPlain, DataTypeFor<T>::kValue, op);
      };
      if (with(set) == nullptr) continue;  // not of this processor
      CHECK(Reduced<T>(with(set), 5, 777, 3) ==
            Reduced<T>(with(InstructionSet::kBaseline), 5, 777, 3));
    }
  }
}

TEMPLATE_TEST_CASE("Widening and joining is the same as doing it at once",
                   "[collectives]", Float16, Bfloat16) {
  using T = TestType;
  constexpr std::size_t kCount = 333;
  const std::vector<T> a = ArrayOf<T>(0, kCount);
  const std::vector<T> b = ArrayOf<T>(1, kCount);
  const DataType type = DataTypeFor<T>::kValue;
  for (const ReduceOp op : kOps) {
    std::vector<float> wide(kCount);
    const std::array<const void*, 1> first{a.data()};
    Reduce(KernelForm::kWiden, wide.data(), first, kCount, type, op);
    std::vector<T> joined(kCount);
    const std::array<const void*, 2> both{wide.data(), b.data()};
    Reduce(KernelForm::kJoin, joined.data(), both, kCount, type, op);
    CHECK(joined == Combined(a, b, op));
    // Alone, it is rounded back to what it was.
    const std::array<const void*, 1> alone{wide.data()};
    Reduce(KernelForm::kJoin, joined.data(), alone, kCount, type, op);
    CHECK(joined == a);
  }
}

TEST_CASE("Every 16-bit float survives the way to f32 and back",
          "[collectives]") {
  std::vector<Float16> halves;
  std::vector<Bfloat16> brains;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (std::isnan(ToFloat(Float16{half}))) continue;
    halves.push_back({half});
  }
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (std::isnan(ToFloat(Bfloat16{half}))) continue;
    brains.push_back({half});
  }
  for (const InstructionSet set : kSets) {
    const auto check = [&](auto values) {
      using T = typename decltype(values)::value_type;
      const Kernel kernel = KernelOf(set, KernelForm::kPlain,
                                     DataTypeFor<T>::kValue, ReduceOp::kSum);
      if (kernel == nullptr) return;  // not of this processor
      std::vector<T> out(values.size());
      const void* in = values.data();
      kernel(out.data(), &in, 1, values.size(), 1);
      CHECK(out == values);
    };
    check(halves);
    check(brains);
  }
}

TEST_CASE("Rounding to 16 bits is to the nearest, ties to even, NaN stays NaN",
          "[collectives]") {
  // Values between neighbours, at them, at the limits, in every binade.
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0xffff0000U; bits += 0x3fffU) {
    values.push_back(std::bit_cast<float>(bits));
    values.push_back(std::bit_cast<float>(bits & 0xfffff000U));
  }
  for (const InstructionSet set : kSets) {
    const auto check = [&](auto convert, DataType type) {
      using T = decltype(convert(1.0F));
      const Kernel kernel =
          KernelOf(set, KernelForm::kJoin, type, ReduceOp::kSum);
      if (kernel == nullptr) return;  // not of this processor
      std::vector<T> out(values.size());
      const void* in = values.data();
      kernel(out.data(), &in, 1, values.size(), 1);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(out[i] == convert(values[i]))) ++wrong;
      }
      CHECK(wrong == 0);
    };
    check([](float v) { return ToFloat16(v); }, DataType::kFloat16);
    check([](float v) { return ToBfloat16(v); }, DataType::kBfloat16);
  }
  CHECK(ToFloat16(1.0F + 0x1p-11F).bits == 0x3c00);      // tie: even
  CHECK(ToFloat16(1.0F + 3 * 0x1p-11F).bits == 0x3c02);  // tie: even
  CHECK(ToFloat16(65519.0F).bits == 0x7bff);
  CHECK(ToFloat16(65520.0F).bits == 0x7c00);
  CHECK(ToFloat16(0x1p-25F).bits == 0);              // tie: even
  CHECK(ToFloat16(0x1.8p-24F).bits == 2);            // tie: even
  CHECK(ToBfloat16(1.0F + 0x1p-8F).bits == 0x3f80);  // tie: even
  CHECK(ToBfloat16(1.0F + 0x1.8p-8F).bits == 0x3f81);
}

TEST_CASE("A kernel may write over any of its arrays", "[collectives]") {
  std::vector<double> a{1, 2, 3};
  std::vector<double> b{10, 20, 30};
  const std::array<const void*, 2> in{a.data(), b.data()};
  Reduce(KernelForm::kPlain, a.data(), in, 3, DataType::kFloat64,
         ReduceOp::kSum);
  CHECK(a == std::vector<double>{11, 22, 33});
  Reduce(KernelForm::kPlain, b.data(), in, 3, DataType::kFloat64,
         ReduceOp::kMax);
  CHECK(b == std::vector<double>{11, 22, 33});
}

TEST_CASE("Integer sums wrap and integer averages are cut toward zero",
          "[collectives]") {
  const auto max32 = std::numeric_limits<std::int32_t>::max();
  const auto min64 = std::numeric_limits<std::int64_t>::min();
  CHECK(Combined<std::int32_t>({max32}, {1}, ReduceOp::kSum)[0] ==
        std::numeric_limits<std::int32_t>::min());
  CHECK(Combined<std::int64_t>({min64}, {-1}, ReduceOp::kSum)[0] ==
        std::numeric_limits<std::int64_t>::max());
  CHECK(Combined<std::uint8_t>({200}, {100}, ReduceOp::kSum)[0] == 44);
  std::array<std::int32_t, 4> values{7, -7, 2, -2};
  const void* in = values.data();
  Reduce(KernelForm::kPlain, values.data(), std::span(&in, 1), 4,
         DataType::kInt32, ReduceOp::kAverage, 3);
  CHECK(values == std::array<std::int32_t, 4>{2, -2, 0, 0});
  // A divisor beyond the type's range.
  std::array<std::int8_t, 2> small{127, -128};
  in = small.data();
  Reduce(KernelForm::kPlain, small.data(), std::span(&in, 1), 2,
         DataType::kInt8, ReduceOp::kAverage, 300);
  CHECK(small == std::array<std::int8_t, 2>{0, 0});
}

TEST_CASE("In minimum and maximum a NaN wins from either side",
          "[collectives]") {
  const float nan = std::nanf("");
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
    CHECK(std::isnan(Combined<float>({nan}, {1}, op)[0]));
    CHECK(std::isnan(Combined<float>({1}, {nan}, op)[0]));
    const Float16 half{0x7e00};
    const Bfloat16 brain{0x7fc0};
    CHECK(Combined<Float16>({half}, {{0x3c00}}, op)[0] == half);
    CHECK(Combined<Float16>({{0x3c00}}, {half}, op)[0] == half);
    CHECK(Combined<Bfloat16>({brain}, {{0x3f80}}, op)[0] == brain);
    CHECK(Combined<Bfloat16>({{0x3f80}}, {brain}, op)[0] == brain);
  }
}

}  // namespace hvd
