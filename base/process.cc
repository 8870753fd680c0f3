#include "base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

extern char** environ;

namespace hvd {
namespace {

Error SpawnError(const std::string& program, int err) {
  const ErrorCode code = err == ENOENT || err == ENOTDIR ? ErrorCode::kNotFound
                         : err == EAGAIN || err == ENOMEM
                             ? ErrorCode::kUnavailable
                             : ErrorCode::kInvalidArgument;
  return {code, program + ": " + std::generic_category().message(err)};
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> EnvironmentText(const EnvList& env) {
  std::vector<std::string> text;
  text.reserve(env.size());
  for (const auto& [name, value] : env) text.push_back(name + '=' + value);
  return text;
}

class SpawnAttributes {
 public:
  explicit SpawnAttributes(const ProcessSpec& spec) {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&actions_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID |
                                               POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF);
    if (!spec.cwd.empty()) {
      Note(posix_spawn_file_actions_addchdir_np(&actions_, spec.cwd.c_str()));
    }
    // dup2 of an fd onto itself clears close-on-exec too (POSIX.1-2017).
    Note(posix_spawn_file_actions_adddup2(&actions_, spec.stdin_fd, 0));
    Note(posix_spawn_file_actions_adddup2(&actions_, spec.stdout_fd, 1));
    Note(posix_spawn_file_actions_adddup2(&actions_, spec.stderr_fd, 2));
    Note(posix_spawn_file_actions_addclosefrom_np(&actions_, 3));
  }
  ~SpawnAttributes() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  // EBADF: a descriptor is invalid, or not below the limit on open files.
  int error() const { return error_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  void Note(int error) {
    if (error_ == 0) error_ = error;
  }

  int error_ = 0;
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

bool IsExecutableFile(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string Below(const std::string& directory, const std::string& name) {
  if (directory.empty() || name.starts_with('/')) return name;
  return directory + '/' + name;
}

}  // namespace

EnvList CurrentEnvironment() {
  EnvList env;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    env.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return env;
}

EnvList EnvMerge(EnvList base, const EnvList& overlay) {
  for (const auto& [name, value] : overlay) {
    const auto same = std::find_if(
        base.begin(), base.end(),
        [&name = name](const auto& entry) { return entry.first == name; });
    if (same == base.end()) {
      base.emplace_back(name, value);
    } else {
      same->second = value;
    }
  }
  return base;
}

std::optional<std::string_view> EnvFind(const EnvList& env,
                                        std::string_view name) {
  for (const auto& [key, value] : env) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Result<std::string> FindProgram(const std::string& name, std::string_view path,
                                const std::string& cwd) {
  if (name.find('/') != std::string::npos) {
    if (IsExecutableFile(Below(cwd, name))) return name;
    struct stat info {};
    if (::stat(Below(cwd, name).c_str(), &info) != 0) {
      return SpawnError(name, errno);
    }
    return SpawnError(name, S_ISDIR(info.st_mode) ? EISDIR : EACCES);
  }
  bool found_unusable = false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    std::string directory(path.substr(begin, end - begin));
    if (directory.empty()) directory = ".";  // POSIX: an empty entry is "."
    const std::string candidate = directory + '/' + name;
    if (IsExecutableFile(Below(cwd, candidate))) return candidate;
    struct stat info {};
    found_unusable =
        found_unusable || (::stat(Below(cwd, candidate).c_str(), &info) == 0 &&
                           S_ISREG(info.st_mode));
    begin = end + 1;
  }
  if (found_unusable) return SpawnError(name, EACCES);
  return Error{ErrorCode::kNotFound, name + ": command not found"};
}

Result<pid_t> Spawn(const ProcessSpec& spec) {
  const SpawnAttributes attributes(spec);
  if (attributes.error() != 0) {
    return Error::FromErrno(spec.program + ": its descriptors",
                            attributes.error());
  }
  std::vector<std::string> words = spec.argv;
  std::vector<std::string> env_text = EnvironmentText(spec.env);
  std::vector<char*> argv = Pointers(words);
  std::vector<char*> envp = Pointers(env_text);
  pid_t pid = -1;
  int err = ::posix_spawn(&pid, spec.program.c_str(), attributes.actions(),
                          attributes.attributes(), argv.data(), envp.data());
  if (err == ENOEXEC) {
    std::string shell = "/bin/sh";
    std::string script = spec.program;
    argv.front() = script.data();
    argv.insert(argv.begin(), shell.data());
    err = ::posix_spawn(&pid, shell.c_str(), attributes.actions(),
                        attributes.attributes(), argv.data(), envp.data());
  }
  if (err != 0) return SpawnError(spec.program, err);
  return pid;
}

Result<UniqueFd> OpenPidfd(pid_t pid) {
  // glibc 2.36's <sys/pidfd.h> lacks extern "C"; the raw call has no such trap.
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd.valid()) return Error::FromErrno("pidfd_open", errno);
  return fd;
}

ExitStatus ReapPidfd(int pidfd) {
  siginfo_t info{};
  while (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED) < 0 &&
         errno == EINTR) {
  }
  if (info.si_code == CLD_EXITED) return {info.si_status, 0};
  return {0, info.si_status};
}

ExitStatus ExitStatusFromWait(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {0, WTERMSIG(wait_status)};
  return {WEXITSTATUS(wait_status), 0};
}

std::string SignalName(int signo) {
  const char* name = ::sigabbrev_np(signo);
  if (name == nullptr) return "signal " + std::to_string(signo);
  return std::string("SIG") + name;
}

}  // namespace hvd
