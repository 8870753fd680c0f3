#include "collectives/reduce_kernels.h"

#include <cstdint>
#include <type_traits>

#include "base/check.h"

namespace hvd {
namespace {

struct Add {
  template <class T>
  static T Of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using Wrapping = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Wrapping>(a) +
                            static_cast<Wrapping>(b));
    } else {
      return a + b;
    }
  }
};

// `a != a` holds for a NaN only; a NaN in `b` fails both comparisons.
struct Min {
  template <class T>
  static T Of(T a, T b) {
    return ((a < b) | (a != a)) ? a : b;
  }
};

struct Max {
  template <class T>
  static T Of(T a, T b) {
    return ((a > b) | (a != a)) ? a : b;
  }
};

template <class Op, class T>
void Loop(T* out, const T* a, const T* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = Op::Of(a[i], b[i]);
}

template <class T>
void CombineTyped(T* out, const T* a, const T* b, std::size_t count,
                  ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAverage:
      return Loop<Add>(out, a, b, count);
    case ReduceOp::kMin:
      return Loop<Min>(out, a, b, count);
    case ReduceOp::kMax:
      return Loop<Max>(out, a, b, count);
  }
  HVD_CHECK(false);
}

// Calls fn(T{}) with the C++ type behind `type`.
template <class Fn>
void WithType(DataType type, const Fn& fn) {
  switch (type) {
    case DataType::kInt32:
      return fn(std::int32_t{});
    case DataType::kInt64:
      return fn(std::int64_t{});
    case DataType::kFloat32:
      return fn(float{});
    case DataType::kFloat64:
      return fn(double{});
  }
  HVD_CHECK(false);
}

}  // namespace

void Combine(void* out, const void* a, const void* b, std::size_t count,
             DataType type, ReduceOp op) {
  WithType(type, [&](auto element) {
    using T = decltype(element);
    CombineTyped(static_cast<T*>(out), static_cast<const T*>(a),
                 static_cast<const T*>(b), count, op);
  });
}

void Divide(void* data, std::size_t count, DataType type, int parts) {
  WithType(type, [&](auto element) {
    using T = decltype(element);
    T* const values = static_cast<T*>(data);
    const T divisor = static_cast<T>(parts);
    for (std::size_t i = 0; i < count; ++i) values[i] /= divisor;
  });
}

}  // namespace hvd
