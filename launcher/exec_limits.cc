#include "launcher/exec_limits.h"

#include <algorithm>
#include <string_view>

namespace hvd {
namespace {

constexpr std::size_t kMaxString = 128U << 10U;  // with its NUL
constexpr std::size_t kMaxTotal = 6U << 20U;
constexpr std::size_t kStackShare = 4;

Error TooLong(std::string_view what, const std::string& name,
              std::size_t size) {
  return {ErrorCode::kInvalidArgument,
          std::string(what) + ' ' + name + ": " + std::to_string(size) +
              " bytes, and the kernel takes at most " +
              std::to_string(kMaxString - 1) + " in one"};
}

Error TooMuch(std::size_t total, const EnvList& env) {
  std::string text = "arguments and environment: " + std::to_string(total) +
                     " bytes, and the kernel takes at most " +
                     std::to_string(kMaxTotal);
  const auto largest = std::max_element(
      env.begin(), env.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
      });
  if (largest != env.end()) {
    text += "; the largest variable is " + largest->first + " with " +
            std::to_string(largest->second.size());
  }
  return {ErrorCode::kInvalidArgument, text};
}

}  // namespace

Result<std::size_t> StackLimitFor(const std::string& program,
                                  const std::vector<std::string>& argv,
                                  const EnvList& env) {
  // Twice the program: a script's interpreter and the script's own path.
  std::size_t total =
      2 * (program.size() + 1) + (argv.size() + env.size() + 4) * sizeof(char*);
  for (std::size_t i = 0; i < argv.size(); ++i) {
    const std::size_t size = argv[i].size() + 1;
    if (size > kMaxString) {
      return TooLong("argument", std::to_string(i), size - 1);
    }
    total += size;
  }
  for (const auto& [name, value] : env) {
    const std::size_t size = name.size() + 1 + value.size() + 1;
    if (size > kMaxString) {
      return TooLong("environment variable", name, size - 1);
    }
    total += size;
  }
  if (total >= kMaxTotal) return TooMuch(total, env);
  return total * kStackShare;
}

}  // namespace hvd
