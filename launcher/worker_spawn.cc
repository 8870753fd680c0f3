#include "launcher/worker_spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "base/process.h"
#include "base/unique_fd.h"
#include "launcher/exec_limits.h"

namespace hvd {
namespace {

// What the kernel puts on a stack besides: auxiliary vector, alignment.
constexpr rlim_t kStackMargin = 64U << 10U;
// The kernel takes 128 KiB of words (a quarter of this) under any limit.
constexpr rlim_t kAlwaysEnough = 512U << 10U;

// Milliseconds to wait for an exec that has begun to be done.
constexpr int kMaxLooks = 200;

// A new program's words are in place some instructions before its exec ends.
bool IsExecDone(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/cmdline";
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char first = 0;
  return fd.valid() && ::read(fd.get(), &first, 1) == 1;
}

// Raises the soft stack limit while it lives, if `need` asks for it.
class RaisedStackLimit {
 public:
  explicit RaisedStackLimit(rlim_t need) {
    ::getrlimit(RLIMIT_STACK, &original_);
    need += kStackMargin;
    enough_ = need <= original_.rlim_cur || need <= kAlwaysEnough;
    if (enough_) return;
    rlimit raised = original_;
    raised.rlim_cur = need;
    raised_to_ = need;
    raised_ = ::setrlimit(RLIMIT_STACK, &raised) == 0;
    enough_ = raised_;
  }
  ~RaisedStackLimit() {
    if (raised_) ::setrlimit(RLIMIT_STACK, &original_);
  }
  RaisedStackLimit(const RaisedStackLimit&) = delete;
  RaisedStackLimit& operator=(const RaisedStackLimit&) = delete;

  // False: the hard limit is too low.
  bool enough() const { return enough_; }
  // The kernel writes the limit that an exec began with back at its very end,
  // after the spawner has been let go: once set may be not enough.
  void GiveBackTo(pid_t pid) const {
    for (int i = 0; raised_ && i < kMaxLooks; ++i) {
      const bool in_place = IsExecDone(pid);
      Restore(pid);
      ::poll(nullptr, 0, 1);
      Restore(pid);
      if (in_place) return;
    }
  }

 private:
  // A program that has changed its own limit by now keeps that.
  void Restore(pid_t pid) const {
    rlimit now{};
    if (::prlimit(pid, RLIMIT_STACK, nullptr, &now) == 0 &&
        now.rlim_cur == raised_to_) {
      ::prlimit(pid, RLIMIT_STACK, &original_, nullptr);
    }
  }

  rlimit original_{};
  rlim_t raised_to_ = 0;
  bool raised_ = false;
  bool enough_ = false;
};

// posix_spawn refuses descriptors that are not below the soft limit; the
// keeper's own, a worker's included, are below this.
constexpr rlim_t kSpawnNeeds = 16;

// The soft limit on open files, for as long as it lives. A hard limit that was
// lowered could not be raised again, so that one is the child's business.
class SoftFdLimit {
 public:
  explicit SoftFdLimit(const std::optional<FdLimit>& nofile) : nofile_(nofile) {
    if (!nofile_) return;
    ::getrlimit(RLIMIT_NOFILE, &own_);
    const rlim_t soft = std::max<rlim_t>(nofile_->soft, kSpawnNeeds);
    const rlimit lower{std::min(soft, own_.rlim_max), own_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~SoftFdLimit() {
    if (nofile_) ::setrlimit(RLIMIT_NOFILE, &own_);
  }
  SoftFdLimit(const SoftFdLimit&) = delete;
  SoftFdLimit& operator=(const SoftFdLimit&) = delete;

  // The rest of the limit that could not be in force before.
  void Complete(pid_t pid) const {
    if (!nofile_) return;
    if (nofile_->hard == own_.rlim_max && nofile_->soft >= kSpawnNeeds) return;
    const rlimit whole{nofile_->soft, nofile_->hard};
    ::prlimit(pid, RLIMIT_NOFILE, &whole, nullptr);
  }

 private:
  std::optional<FdLimit> nofile_;
  rlimit own_{};
};

Status CheckDirectory(const std::string& cwd) {
  struct stat info {};
  if (cwd.empty()) return Done{};
  int err = ::stat(cwd.c_str(), &info) != 0 ? errno : 0;
  if (err == 0 && !S_ISDIR(info.st_mode)) err = ENOTDIR;
  if (err == 0 && ::access(cwd.c_str(), X_OK) != 0) err = errno;
  if (err != 0) return Error::FromErrno("working directory " + cwd, err);
  return Done{};
}

}  // namespace

Result<pid_t> SpawnWorker(const KeeperLaunch& launch, const WorkerFds& fds,
                          const std::optional<FdLimit>& nofile) {
  const Status directory = CheckDirectory(launch.cwd);
  if (!directory.ok()) return directory.error();
  const std::string path(EnvFind(launch.env, "PATH").value_or("/usr/bin:/bin"));
  const Result<std::string> program =
      FindProgram(launch.argv.front(), path, launch.cwd);
  if (!program.ok()) return program.error();
  const Result<std::size_t> stack =
      StackLimitFor(program.value(), launch.argv, launch.env);
  if (!stack.ok()) {
    return Error{ErrorCode::kUnavailable, stack.error().message()};
  }
  const RaisedStackLimit limit(stack.value());
  if (!limit.enough()) {
    return Error{ErrorCode::kUnavailable,
                 "arguments and environment: they need a stack limit of " +
                     std::to_string(stack.value()) +
                     " bytes, and the hard limit (ulimit -Hs) is lower"};
  }
  const SoftFdLimit fd_limit(nofile);
  Result<pid_t> pid = Spawn({.program = program.value(),
                             .argv = launch.argv,
                             .env = launch.env,
                             .cwd = launch.cwd,
                             .stdin_fd = fds.stdin_fd,
                             .stdout_fd = fds.stdout_fd,
                             .stderr_fd = fds.stderr_fd});
  if (pid.ok()) {
    fd_limit.Complete(pid.value());
    limit.GiveBackTo(pid.value());
  }
  return pid;
}

}  // namespace hvd
