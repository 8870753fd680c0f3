#include "launcher/stdin_relay.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "launcher/blocked_signal.h"

namespace hvd {
namespace {

// The kernel tells nobody that a terminal's foreground group has changed.
constexpr Duration kLookInterval{1000};
constexpr std::size_t kReadSize = 4096;  // the longest line of a terminal

}  // namespace

Result<UniqueFd> OpenDevNull() {
  UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return Error::FromErrno("/dev/null", errno);
  return fd;
}

StdinRelay::StdinRelay(EventLoop& loop, int source_fd)
    : loop_(loop), source_fd_(source_fd) {}

Result<UniqueFd> StdinRelay::Attach() {
  End();
  if (::isatty(source_fd_) != 1) {
    UniqueFd copy(::fcntl(source_fd_, F_DUPFD_CLOEXEC, 3));
    if (!copy.valid()) return OpenDevNull();
    return copy;
  }
  const Status terminal = OpenTerminal();
  if (!terminal.ok()) return OpenDevNull();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error::FromErrno("pipe", errno);
  }
  UniqueFd for_worker(ends[0]);
  to_worker_.Reset(ends[1]);
  ::fcntl(to_worker_.get(), F_SETFL, O_WRONLY | O_NONBLOCK);
  readable_ = loop_.OnReadable(terminal_.get(), [this] { OnReadable(); });
  LookAgain();
  return for_worker;
}

// Opened once more, because O_NONBLOCK on the inherited descriptor would hit
// the user's shell too.
Status StdinRelay::OpenTerminal() {
  if (terminal_.valid()) return Done{};
  const std::string path = "/proc/self/fd/" + std::to_string(source_fd_);
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  terminal_.Reset(::open(path.c_str(), kFlags));
  // A terminal of another user (su, sudo) is still ours as /dev/tty.
  if (!terminal_.valid()) terminal_.Reset(::open("/dev/tty", kFlags));
  if (!terminal_.valid()) return Error::FromErrno("terminal", errno);
  return Done{};
}

bool StdinRelay::MayRead() const {
  if (!waiting_.empty()) return false;
  if (InBackground()) return false;
  termios settings{};
  // A terminal that hung up has no settings; a read tells its end.
  return ::tcgetattr(terminal_.get(), &settings) != 0 ||
         (settings.c_lflag & ICANON) != 0;
}

// Without a foreground group it isn't our controlling terminal, or it hung up:
// reading stops nobody.
bool StdinRelay::InBackground() const {
  const pid_t foreground = ::tcgetpgrp(terminal_.get());
  return foreground >= 0 && foreground != ::getpgrp();
}

void StdinRelay::LookAgain() {
  if (!readable_) return;
  if (MayRead()) {
    readable_->Resume();
  } else {
    readable_->Pause();
  }
  look_timer_ = loop_.After(kLookInterval, [this] { LookAgain(); });
}

void StdinRelay::OnReadable() {
  if (!MayRead()) {
    readable_->Pause();  // LookAgain() resumes it
    return;
  }
  std::array<char, kReadSize> buffer;
  ssize_t n = 0;
  int err = 0;
  {
    // Should it be in the background by now: EIO instead of a stop.
    const BlockedSignal no_stop(SIGTTIN);
    n = ::read(terminal_.get(), buffer.data(), buffer.size());
    err = errno;
  }
  if (n < 0 && (err == EAGAIN || err == EINTR)) return;
  if (n < 0 && err == EIO && InBackground()) {
    readable_->Pause();
    return;
  }
  if (n <= 0) {  // Ctrl-D, or the terminal is gone
    End();
    return;
  }
  waiting_.assign(buffer.data(), static_cast<std::size_t>(n));
  Send();
}

void StdinRelay::Send() {
  ssize_t n = 0;
  int err = 0;
  {
    const BlockedSignal no_pipe(SIGPIPE);
    n = ::write(to_worker_.get(), waiting_.data(), waiting_.size());
    err = errno;
  }
  if (n < 0 && err != EAGAIN && err != EINTR) {
    End();  // the worker reads no more
    return;
  }
  if (n > 0) waiting_.erase(0, static_cast<std::size_t>(n));
  if (waiting_.empty()) {
    writable_.reset();
    LookAgain();
    return;
  }
  readable_->Pause();
  if (!writable_) {
    writable_ = loop_.OnWritable(to_worker_.get(), [this] { Send(); });
  }
}

void StdinRelay::End() {
  readable_.reset();
  writable_.reset();
  look_timer_.reset();
  to_worker_.Reset();
  waiting_.clear();
}

}  // namespace hvd
