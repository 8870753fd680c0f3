#include "cmd/descriptor_limit.h"

#include <algorithm>
#include <cerrno>
#include <string>

namespace hvd {
namespace {

constexpr std::size_t kOwn = 64;
constexpr std::size_t kPipesPerWorker = 4;    // both ends while one starts
constexpr std::size_t kSocketsPerWorker = 2;  // its control and main connection
constexpr std::size_t kFilesPerWorker = 2;
constexpr rlim_t kPlenty = 65'536;

}  // namespace

std::size_t DescriptorsFor(int workers, bool with_files) {
  const std::size_t each =
      kPipesPerWorker + kSocketsPerWorker + (with_files ? kFilesPerWorker : 0);
  return kOwn + static_cast<std::size_t>(workers) * each;
}

Result<rlimit> RaiseDescriptorLimit(std::size_t needed) {
  rlimit before{};
  if (::getrlimit(RLIMIT_NOFILE, &before) != 0) {
    return Error::FromErrno("getrlimit", errno);
  }
  if (before.rlim_cur >= needed) return before;
  if (before.rlim_max < needed) {
    return Error{ErrorCode::kInvalidArgument,
                 "this job needs about " + std::to_string(needed) +
                     " open files, the limit is " +
                     std::to_string(before.rlim_max)}
        .WithHint("raise it with ulimit -n " + std::to_string(needed) +
                  ", or start fewer workers");
  }
  rlimit raised = before;
  raised.rlim_cur = needed;
  if (::setrlimit(RLIMIT_NOFILE, &raised) != 0) {
    return Error::FromErrno("setrlimit", errno);
  }
  return before;
}

rlimit RaiseDescriptorLimitFarEnough() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  rlimit raised = limit;
  raised.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kPlenty));
  ::setrlimit(RLIMIT_NOFILE, &raised);
  return limit;
}

}  // namespace hvd
