#include "tests/testbed/bed.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace hvd::testing {
namespace {

constexpr int kNotHere = 77;  // what `up` ends with where there can be no bed

std::vector<std::string> Joined(std::vector<std::string> words,
                                std::vector<std::string> more) {
  for (std::string& word : more) words.push_back(std::move(word));
  return words;
}

// ctest takes this line for "not run" (tests/testbed/CMakeLists.txt).
[[noreturn]] void EndAsNotRun(const std::string& reason) {
  std::fprintf(stderr, "this test was not run: %s", reason.c_str());
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

std::vector<std::string> BedCommand(const std::string& command,
                                    std::vector<std::string> words) {
  return Joined({std::string(HVD_TESTBED_DIR) + '/' + command},
                std::move(words));
}

ProgramResult BedUp(std::vector<std::string> words) {
  ProgramResult up = RunProgram(BedCommand("up", std::move(words)), {},
                                std::chrono::seconds(100));
  if (up.status.ToShell() == kNotHere) EndAsNotRun(up.err);
  return up;
}

Bed::Bed(std::vector<std::string> words) {
  const ProgramResult up =
      BedUp(Joined({"--bed", name(), "--owner", std::to_string(::getpid()),
                    "--share", HVD_TESTBED_BUILD_DIR},
                   std::move(words)));
  INFO(up.out << up.err);
  REQUIRE(up.status.ToShell() == 0);
}

Bed::~Bed() { RunProgram(BedCommand("down", {"--bed", name()})); }

std::vector<std::string> Bed::On(const std::string& host,
                                 std::vector<std::string> argv) const {
  return Joined(BedCommand("host", {"--bed", name(), host}), std::move(argv));
}

ProgramResult Bed::Run(const std::string& host, std::vector<std::string> argv,
                       ProgramOptions options,
                       std::chrono::milliseconds limit) const {
  return RunProgram(On(host, std::move(argv)), std::move(options), limit);
}

void Bed::Down() const {
  const ProgramResult down = RunProgram(BedCommand("down", {"--bed", name()}));
  INFO(down.err);
  REQUIRE(down.status.ToShell() == 0);
}

void Bed::Turn(const std::string& command, const std::string& host) const {
  const ProgramResult turned =
      RunProgram(BedCommand(command, {"--bed", name(), host}));
  INFO(command << ' ' << host << ": " << turned.err);
  REQUIRE(turned.status.ToShell() == 0);
}

}  // namespace hvd::testing
