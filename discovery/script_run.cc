#include "discovery/script_run.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/pipe.h"
#include "base/session.h"

namespace hvd {
namespace {

constexpr int kLongestKillMs = 500;

void KeepEnd(std::string& text, std::string_view bytes) {
  text.append(bytes);
  if (text.size() > kMaxScriptErrors) {
    text.erase(0, text.size() - kMaxScriptErrors);
  }
}

}  // namespace

struct ScriptRun::Pipes {
  UniqueFd output;
  UniqueFd errors;
};

Result<std::unique_ptr<ScriptRun>> ScriptRun::Start(EventLoop& loop,
                                                    const Options& options,
                                                    KilledProcesses& leftovers,
                                                    EndHandler on_end) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null.valid()) return Error::FromErrno("/dev/null", errno);
  Result<Pipe> output = MakePipe(OurEnd::kRead);
  if (!output.ok()) return std::move(output).error();
  Result<Pipe> errors = MakePipe(OurEnd::kRead);
  if (!errors.ok()) return std::move(errors).error();
  const Result<pid_t> pid =
      Spawn({.program = "/bin/sh",
             .argv = {"sh", "-c", "--", options.command},
             .env = options.env,
             .cwd = "",
             .stdin_fd = null.get(),
             .stdout_fd = output.value().write_end.get(),
             .stderr_fd = errors.value().write_end.get()});
  if (!pid.ok()) return pid.error();
  Result<UniqueFd> pidfd = OpenPidfd(pid.value());
  if (!pidfd.ok()) {
    KillSession(pid.value());
    ::waitpid(pid.value(), nullptr, 0);
    return std::move(pidfd).error();
  }
  return std::unique_ptr<ScriptRun>(
      new ScriptRun(loop, options.timeout, leftovers, std::move(on_end),
                    pid.value(), std::move(pidfd).value(),
                    {std::move(output.value().read_end),
                     std::move(errors.value().read_end)}));
}

ScriptRun::ScriptRun(EventLoop& loop, Duration timeout,
                     KilledProcesses& leftovers, EndHandler on_end, pid_t pid,
                     UniqueFd pidfd, Pipes pipes)
    : leftovers_(leftovers),
      on_end_(std::move(on_end)),
      pid_(pid),
      pidfd_(std::move(pidfd)),
      stdout_(std::move(pipes.output)),
      stderr_(std::move(pipes.errors)),
      output_(loop.OnReadable(stdout_.get(), [this] { OnOutput(); })),
      errors_(loop.OnReadable(stderr_.get(), [this] { OnErrors(); })),
      exit_(loop.OnReadable(pidfd_.get(), [this] { OnExit(); })),
      timeout_(loop.After(timeout, [this] { Kill(ScriptEnding::kTimedOut); })) {
}

ScriptRun::~ScriptRun() {
  if (gone()) return;
  KillSession(pid_);
  pollfd ended{pidfd_.get(), POLLIN, 0};
  if (::poll(&ended, 1, kLongestKillMs) == 1) Reap();
}

void ScriptRun::OnOutput() {
  const PipeRead read = ReadOnce(stdout_.get(), [this](std::string_view bytes) {
    end_.output.append(bytes);
  });
  if (read == PipeRead::kEnd) output_.reset();
  if (end_.output.size() > kMaxScriptOutput) Kill(ScriptEnding::kTooMuchOutput);
}

void ScriptRun::OnErrors() {
  const PipeRead read = ReadOnce(stderr_.get(), [this](std::string_view bytes) {
    KeepEnd(end_.errors, bytes);
  });
  if (read == PipeRead::kEnd) errors_.reset();
}

void ScriptRun::OnExit() {
  if (on_end_) {
    DrainPipe(stdout_.get(),
              [this](std::string_view bytes) { end_.output.append(bytes); });
    DrainPipe(stderr_.get(),
              [this](std::string_view bytes) { KeepEnd(end_.errors, bytes); });
    if (end_.output.size() > kMaxScriptOutput) {
      end_.how = ScriptEnding::kTooMuchOutput;
    }
  }
  Reap();
  Tell();
}

// Told at once: a process that waits for a dead file server outlives SIGKILL.
void ScriptRun::Kill(ScriptEnding why) {
  KillSession(pid_);
  end_.how = why;
  Tell();
}

// Only what the script has left is looked for here: as long as it lives,
// nobody but itself can reap its children.
void ScriptRun::Reap() {
  exit_.reset();
  leftovers_.Add(KillSession(pid_));
  end_.status = ReapPidfd(pidfd_.get());
  pidfd_.Reset();
}

void ScriptRun::Tell() {
  output_.reset();
  errors_.reset();
  timeout_.reset();
  stdout_.Reset();
  stderr_.Reset();
  const EndHandler on_end = std::exchange(on_end_, nullptr);
  if (on_end) on_end(std::move(end_));
}

}  // namespace hvd
