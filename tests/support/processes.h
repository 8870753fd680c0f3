// Finding processes by a mark in their command line or environment, so that a
// test can prove that nothing was left behind, whoever the parent is by now.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hvd::testing {

// A word that no other process has, to be put into an argument or a variable.
std::string UniqueMark();

// A mark whose processes are killed at the end of scope: a test that fails
// leaves nothing to the next one.
class ScopedMark {
 public:
  ScopedMark() : text_(UniqueMark()) {}
  ~ScopedMark();
  ScopedMark(const ScopedMark&) = delete;
  ScopedMark& operator=(const ScopedMark&) = delete;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Living processes (no zombies) with `mark` in /proc/<pid>/cmdline or environ.
std::vector<pid_t> ProcessesWith(std::string_view mark);

// True once there are none; waits at most `limit`.
bool NoneLeft(std::string_view mark, std::chrono::milliseconds limit);

// The letter of /proc/<pid>/stat ('T': stopped); 0 when there is no such one.
char ProcessState(pid_t pid);
// Children of `parent`, zombies too.
std::vector<pid_t> ChildrenOf(pid_t parent);
// The living child whose program has this name (its first 15 characters).
std::optional<pid_t> ChildNamed(pid_t parent, std::string_view name);
// The most memory it ever had, in kB (VmHWM); 0 when there is no such process.
std::size_t PeakMemoryKb(pid_t pid);

}  // namespace hvd::testing
