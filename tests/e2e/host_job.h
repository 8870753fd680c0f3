// HostJob: hvdrun on host a of a bed, as a user would type it there.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"
#include "tests/testbed/bed.h"

namespace hvd::testing {

class HostJob : public Program {
 public:
  HostJob(const Bed& bed, std::vector<std::string> words,
          ProgramOptions options = {})
      : Program(bed.On("a", HvdrunCommand(std::move(words))),
                std::move(options)) {}

  bool Prints(const std::string& text,
              std::chrono::milliseconds limit = std::chrono::seconds(40)) {
    const bool printed = WaitForOutput(text, limit);
    if (!printed) UNSCOPED_INFO(out() << err());
    return printed;
  }
};

inline ProgramResult RunOnHosts(const Bed& bed, std::vector<std::string> words,
                                ProgramOptions options = {}) {
  return bed.Run("a", HvdrunCommand(std::move(words)), std::move(options));
}

// A worker that does nothing for long, with the mark in its environment.
inline std::vector<std::string> Idle(const ScopedMark& mark) {
  return {"env", "TEST_MARK=" + mark.text(), "sh", "-c",
          "echo up; exec sleep 300"};
}

// Such workers that live, on whatever host.
inline std::size_t IdleWorkers(const ScopedMark& mark) {
  std::size_t count = 0;
  for (const pid_t pid : ProcessesWith(mark.text())) {
    if (ReadFile("/proc/" + std::to_string(pid) + "/comm") == "sleep\n") {
      ++count;
    }
  }
  return count;
}

}  // namespace hvd::testing
