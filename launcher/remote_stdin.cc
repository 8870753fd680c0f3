#include "launcher/remote_stdin.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "launcher/blocked_signal.h"

namespace hvd {

RemoteStdin::RemoteStdin(EventLoop& loop, UniqueFd fd)
    : loop_(loop), fd_(std::move(fd)) {}

void RemoteStdin::Send(std::shared_ptr<const std::string> bytes) {
  queue_.push_back(std::move(bytes));
  if (writable_) return;
  writable_ = loop_.OnWritable(fd_.get(), [this] { OnWritable(); });
}

void RemoteStdin::OnWritable() {
  const std::string& bytes = *queue_.front();
  ssize_t n = 0;
  int err = 0;
  {
    const BlockedSignal no_pipe(SIGPIPE);
    n = ::write(fd_.get(), bytes.data() + sent_, bytes.size() - sent_);
    err = errno;
  }
  if (n < 0 && (err == EAGAIN || err == EINTR)) return;
  if (n < 0) {
    queue_.clear();
  } else if ((sent_ += static_cast<std::size_t>(n)) == bytes.size()) {
    sent_ = 0;
    queue_.pop_front();
  }
  if (queue_.empty()) writable_.reset();
}

}  // namespace hvd
