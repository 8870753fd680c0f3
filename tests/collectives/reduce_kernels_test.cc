#include "collectives/reduce_kernels.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/collectives/reference.h"

namespace hvd {
namespace {

using namespace testing;

template <class T>
std::vector<T> Combined(const std::vector<T>& a, const std::vector<T>& b,
                        ReduceOp op) {
  std::vector<T> out(a.size());
  Combine(out.data(), a.data(), b.data(), a.size(), DataTypeFor<T>::kValue, op);
  return out;
}

}  // namespace

TEMPLATE_TEST_CASE("Combine and Divide agree with plain arithmetic",
                   "[collectives]", std::int32_t, std::int64_t, float, double) {
  using T = TestType;
  for (const std::size_t count : {0UL, 1UL, 3UL, 8UL, 17UL, 1001UL}) {
    for (const ReduceOp op :
         {ReduceOp::kSum, ReduceOp::kAverage, ReduceOp::kMin, ReduceOp::kMax}) {
      std::vector<T> out =
          Combined(ArrayOf<T>(0, count), ArrayOf<T>(1, count), op);
      if (op == ReduceOp::kAverage) {
        Divide(out.data(), count, DataTypeFor<T>::kValue, 2);
      }
      for (std::size_t i = 0; i < count; ++i) {
        CHECK(Agrees(out[i], ReducedElement<T>(2, i, op), 2, op));
      }
    }
  }
}

TEST_CASE("Combine may write over either operand", "[collectives]") {
  std::vector<double> a{1, 2, 3};
  std::vector<double> b{10, 20, 30};
  Combine(a.data(), a.data(), b.data(), 3, DataType::kFloat64, ReduceOp::kSum);
  CHECK(a == std::vector<double>{11, 22, 33});
  Combine(b.data(), a.data(), b.data(), 3, DataType::kFloat64, ReduceOp::kMax);
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
  std::array<std::int32_t, 4> values{7, -7, 2, -2};
  Divide(values.data(), values.size(), DataType::kInt32, 3);
  CHECK(values == std::array<std::int32_t, 4>{2, -2, 0, 0});
}

TEST_CASE("In minimum and maximum a NaN wins from either side",
          "[collectives]") {
  const float nan = std::nanf("");
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
    CHECK(std::isnan(Combined<float>({nan}, {1}, op)[0]));
    CHECK(std::isnan(Combined<float>({1}, {nan}, op)[0]));
  }
}

}  // namespace hvd
