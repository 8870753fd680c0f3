// What may happen to an elastic job, at random: the dice, and how it must end.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <string>

#include "tests/e2e/hvdrun.h"
#include "tests/support/chance.h"

namespace hvd::testing {

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : random_(seed) {}
  int Pick(int below) {
    return static_cast<int>(random_() % static_cast<unsigned>(below));
  }
  template <class Items>
  auto& PickOf(Items& items) {
    return items[static_cast<std::size_t>(
        Pick(static_cast<int>(items.size())))];
  }

 private:
  std::mt19937 random_;
};

// A few lines more, or up to `longest`: events come while a world forms, too.
inline void AwaitProgress(Program& job, Dice& dice,
                          std::chrono::milliseconds longest) {
  const std::size_t lines =
      Count(job.out(), "\n") + static_cast<std::size_t>(dice.Pick(20));
  job.WaitUntil(
      [&] { return Count(job.out(), "\n") > lines; },
      std::chrono::milliseconds(dice.Pick(static_cast<int>(longest.count()))));
}

// The example `ring`, to its last step, every sum right; nothing is left.
inline void CheckSurvived(const ProgramResult& result, const std::string& steps,
                          const ScopedMark& mark) {
  INFO(result.err);
  CHECK(result.status.success());
  CHECK(Contains(result.out, "step=" + steps + ' '));
  CHECK_FALSE(Contains(result.err, "must be"));  // ring's word for a wrong sum
  CHECK(NoneLeft(mark.text(), std::chrono::seconds(5)));
}

}  // namespace hvd::testing
