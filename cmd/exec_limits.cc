#include "cmd/exec_limits.h"

#include <algorithm>

namespace hvd {
namespace {

constexpr std::size_t kMaxString = 128 * 1024;      // with its NUL
constexpr std::size_t kMaxTotal = 6 * 1024 * 1024;  // 3/4 of _STK_LIM

std::string Kilobytes(std::size_t bytes) {
  return std::to_string((bytes + 1023) / 1024) + " KiB";
}

}  // namespace

Status CheckExecLimits(const std::vector<std::string>& argv,
                       const EnvList& env) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    const std::size_t size = argv[i].size() + 1;
    if (size > kMaxString) {
      return Error{ErrorCode::kInvalidArgument,
                   "word " + std::to_string(i + 1) + " of the command has " +
                       Kilobytes(size) + ": the kernel takes at most 128 KiB"};
    }
    total += size + sizeof(char*);
  }
  std::size_t largest = 0;
  std::string largest_name;
  for (const auto& [name, value] : env) {
    const std::size_t size = name.size() + value.size() + 2;
    if (size > kMaxString) {
      return Error{ErrorCode::kInvalidArgument,
                   "environment variable " + name + " has " + Kilobytes(size) +
                       ": the kernel takes at most 128 KiB"};
    }
    if (size > largest) {
      largest = size;
      largest_name = name;
    }
    total += size + sizeof(char*);
  }
  if (total <= kMaxTotal) return Done{};
  return Error{
      ErrorCode::kInvalidArgument,
      "command and environment have " + Kilobytes(total) +
          ": the kernel takes at most 6 MiB (the largest variable is " +
          largest_name + ", " + Kilobytes(largest) + ")"};
}

}  // namespace hvd
