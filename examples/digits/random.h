// Random: numbers that depend on the seed alone.
//
// The standard fixes what mt19937_64 returns but not what its distributions and
// std::shuffle make of it; these three do the same everywhere.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace digits {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // 0 <= x < 1.
  double Uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  // 0 <= n < `limit`; the bias of 2^-53 * limit does not matter here.
  std::size_t Below(std::size_t limit) {
    return static_cast<std::size_t>(Uniform() * static_cast<double>(limit));
  }

  // Fisher-Yates.
  template <class T>
  void Shuffle(std::vector<T>& items) {
    for (std::size_t n = items.size(); n > 1; --n) {
      std::swap(items[n - 1], items[Below(n)]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace digits
