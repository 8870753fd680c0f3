// Chance: how far a test that throws dice goes, and with which seed.
//
// HVD_SEED=<number> throws again what a failed test has named; HVD_SOAK, which
// scripts/test soak sets, asks for more of the same.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace hvd::testing {

inline bool InSoak() { return std::getenv("HVD_SOAK") != nullptr; }

inline std::uint32_t ChooseSeed() {
  const char* given = std::getenv("HVD_SEED");
  return given != nullptr ? static_cast<std::uint32_t>(std::stoul(given))
                          : std::random_device{}();
}

}  // namespace hvd::testing
