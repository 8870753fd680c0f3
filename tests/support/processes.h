// Finding processes by a mark in their command line or environment, so that a
// test can prove that nothing was left behind, whoever the parent is by now.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace hvd::testing {

// A word that no other process has, to be put into an argument or a variable.
std::string UniqueMark();

// Living processes (no zombies) with `mark` in /proc/<pid>/cmdline or environ.
std::vector<pid_t> ProcessesWith(std::string_view mark);

// True once there are none; waits at most `limit`.
bool NoneLeft(std::string_view mark, std::chrono::milliseconds limit);

}  // namespace hvd::testing
