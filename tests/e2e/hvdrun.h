// hvdrun as the tests call it: the real program of this build.
#pragma once

#include <string>
#include <vector>

#include "tests/support/program.h"

namespace hvd::testing {

// HVD_BIN_DIR is the build's bin/, given by CMake.
inline std::string Bin(const std::string& program) {
  return std::string(HVD_BIN_DIR) + '/' + program;
}

inline std::vector<std::string> HvdrunCommand(std::vector<std::string> words) {
  words.insert(words.begin(), Bin("hvdrun"));
  return words;
}

inline ProgramResult Hvdrun(
    std::vector<std::string> words, ProgramOptions options = {},
    std::chrono::milliseconds limit = std::chrono::seconds(40)) {
  return RunProgram(HvdrunCommand(std::move(words)), std::move(options),
                    limit);
}

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace hvd::testing
