// Bed: hosts of a test's own, made of namespaces on this machine; README.md
// says what they have for themselves and which traps there are.
//
// A bed ends with the object, and with this process if that is killed.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/processes.h"
#include "tests/support/program.h"

namespace hvd::testing {

// tests/testbed/<command> with these words.
std::vector<std::string> BedCommand(const std::string& command,
                                    std::vector<std::string> words);

// `up` with these words. Where this machine can have no bed, the test ends as
// "not run".
ProgramResult BedUp(std::vector<std::string> words);

class Bed {
 public:
  // `words` as `up` takes them: {"4", "--docker0"}; its owner is this process,
  // unless they say otherwise. Every process of the bed has the bed's name in
  // its environment, but for what is run over ssh. A bed that does not come up
  // fails the test.
  explicit Bed(std::vector<std::string> words);
  ~Bed();
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;

  const std::string& name() const { return mark_.text(); }

  // What runs `argv` on a host, for Program and RunProgram: it has the signals,
  // streams, environment and end of a local one, SIGKILL included.
  std::vector<std::string> On(const std::string& host,
                              std::vector<std::string> argv) const;
  ProgramResult Run(
      const std::string& host, std::vector<std::string> argv,
      ProgramOptions options = {},
      std::chrono::milliseconds limit = std::chrono::seconds(40)) const;

  void Cut(const std::string& host) const { Turn("cut", host); }
  void Mend(const std::string& host) const { Turn("mend", host); }
  void PowerOff(const std::string& host) const { Turn("off", host); }
  void PowerOn(const std::string& host) const { Turn("on", host); }
  void Freeze(const std::string& host) const { Turn("freeze", host); }
  void Thaw(const std::string& host) const { Turn("thaw", host); }
  void Down() const;

 private:
  void Turn(const std::string& command, const std::string& host) const;

  ScopedMark mark_;
};

}  // namespace hvd::testing
