// hvdrun as the tests call it: the real program of this build, and what is
// looked for in what it printed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/lines.h"
#include "tests/support/processes.h"
#include "tests/support/program.h"

namespace hvd::testing {

// HVD_BIN_DIR is the build's bin/, given by CMake.
inline std::string Bin(const std::string& program) {
  return std::string(HVD_BIN_DIR) + '/' + program;
}

// The worker that does what a test tells it (workers/e2e_worker.cc).
inline std::string E2eWorker() { return HVD_E2E_WORKER; }
inline std::string StoreClient() { return HVD_STORE_CLIENT; }

inline std::vector<std::string> HvdrunCommand(std::vector<std::string> words) {
  words.insert(words.begin(), Bin("hvdrun"));
  return words;
}

inline ProgramResult Hvdrun(
    std::vector<std::string> words, ProgramOptions options = {},
    std::chrono::milliseconds limit = std::chrono::seconds(40)) {
  return RunProgram(HvdrunCommand(std::move(words)), std::move(options), limit);
}

// hvdrun and all that it starts carry the mark in their environment.
inline ProgramOptions Marked(const ScopedMark& mark,
                             ProgramOptions options = {}) {
  options.env.emplace_back("TEST_MARK", mark.text());
  return options;
}

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

inline std::string LastLine(const std::string& text) {
  const std::vector<std::string> lines = Lines(text);
  return lines.empty() ? "" : lines.back();
}

// The pid that a worker with `echo pid=$$` has said it has.
inline std::optional<pid_t> PidOfRank(const std::string& out, int rank) {
  const std::string tag = "[" + std::to_string(rank) + "]<stdout>:pid=";
  const std::size_t at = out.find(tag);
  if (at == std::string::npos) return std::nullopt;
  if (out.find('\n', at) == std::string::npos) return std::nullopt;
  return std::stoi(out.substr(at + tag.size()));
}

}  // namespace hvd::testing
