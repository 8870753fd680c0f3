#include "launcher/byte_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/check.h"
#include "launcher/blocked_signal.h"

namespace hvd {

ByteSink::ByteSink(EventLoop& loop, std::function<void()> on_taken,
                   std::function<void(WorkerStream)> on_unread)
    : loop_(loop),
      on_taken_(std::move(on_taken)),
      on_unread_(std::move(on_unread)) {}

void ByteSink::Add(WorkerStream stream, UniqueFd write_end) {
  ::fcntl(write_end.get(), F_SETFL, O_WRONLY | O_NONBLOCK);
  streams_[stream] = std::move(write_end);
}

void ByteSink::Remove(WorkerStream stream) {
  if (waiting_ && waiting_->stream == stream) {
    writable_.reset();
    waiting_.reset();
    later_ = loop_.After(Duration{0}, [this] { on_taken_(); });
  }
  streams_.erase(stream);
}

bool ByteSink::Write(WorkerBytes piece) {
  HVD_CHECK(!waiting_);
  waiting_ = std::move(piece);
  written_ = 0;
  return Continue();
}

bool ByteSink::Continue() {
  const WorkerStream stream = waiting_->stream;
  const auto found = streams_.find(stream);
  while (found != streams_.end() && written_ < waiting_->bytes.size()) {
    ssize_t n = 0;
    int err = 0;
    {
      const BlockedSignal no_pipe(SIGPIPE);
      n = ::write(found->second.get(), waiting_->bytes.data() + written_,
                  waiting_->bytes.size() - written_);
      err = errno;
    }
    if (n >= 0) {
      written_ += static_cast<std::size_t>(n);
    } else if (err == EAGAIN) {
      if (writable_) return false;
      writable_ = loop_.OnWritable(found->second.get(), [this] {
        if (Continue()) on_taken_();
      });
      return false;
    } else if (err != EINTR) {
      writable_.reset();
      streams_.erase(found);
      waiting_.reset();
      later_ = loop_.After(Duration{0}, [this, stream] { on_unread_(stream); });
      return true;
    }
  }
  writable_.reset();
  if (waiting_->end) streams_.erase(stream);
  waiting_.reset();
  return true;
}

}  // namespace hvd
