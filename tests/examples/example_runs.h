// The example programs of this build, and the numbers in what they print.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace hvd::testing {

// HVD_BUILD_DIR is given by CMake.
inline const std::string kBin = HVD_BUILD_DIR "/bin";
inline const std::string kHvdrun = kBin + "/hvdrun";
inline const std::string kDigits = kBin + "/digits";
inline const std::string kRing = kBin + "/ring";

// Sanitized builds train ten times as slowly.
inline constexpr std::chrono::milliseconds kTrainingLimit =
    std::chrono::seconds(50);

inline ProgramResult RunWell(const std::vector<std::string>& argv) {
  const ProgramResult result = RunProgram(argv, {}, kTrainingLimit);
  INFO(result.out << result.err);
  REQUIRE(result.status == ExitStatus{});
  return result;
}

// hvdrun FLAGS... PROGRAM...
inline std::vector<std::string> Hvdrun(
    std::vector<std::string> flags, const std::vector<std::string>& program) {
  flags.insert(flags.begin(), kHvdrun);
  flags.insert(flags.end(), program.begin(), program.end());
  return flags;
}

// Each number that follows `key` in `text`.
inline std::vector<double> NumbersAfter(const std::string& key,
                                        const std::string& text) {
  std::vector<double> numbers;
  const std::regex pattern(key + "=([-+.0-9e]+)");
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end;
       it != end; ++it) {
    numbers.push_back(std::stod((*it)[1]));
  }
  return numbers;
}

inline double Accuracy(const std::string& text) {
  const auto all = NumbersAfter("train=1437 test=360 accuracy", text);
  INFO(text);
  REQUIRE(all.size() == 1);
  return all[0];
}

}  // namespace hvd::testing
