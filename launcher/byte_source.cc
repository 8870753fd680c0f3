#include "launcher/byte_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "launcher/output_pipe.h"

namespace hvd {
namespace {

// A file, /dev/null, /dev/zero: no epoll set takes them, nor needs to.
bool NeverWaits(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return true;
  return S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) ||
         (S_ISCHR(status.st_mode) && ::isatty(fd) == 0);
}

}  // namespace

ByteSource::ByteSource(EventLoop& loop, std::function<void(WorkerBytes)> send)
    : loop_(loop), send_(std::move(send)), buffer_(kPiece, '\0') {}

void ByteSource::Add(WorkerStream stream, UniqueFd fd) {
  const bool is_file = NeverWaits(fd.get());
  Stream& added = streams_[stream];
  added.fd = std::move(fd);
  added.is_file = is_file;
  if (is_file) return ReadFiles();
  added.watch =
      loop_.OnReadable(added.fd.get(), [this, stream] { OnReadable(stream); });
  if (!HasRoom()) added.watch->Pause();
}

void ByteSource::OnSent() {
  --on_their_way_;
  while (HasRoom() && !waiting_.empty()) {
    WorkerBytes next = std::move(waiting_.front());
    waiting_.pop_front();
    Send(std::move(next));
  }
  UpdateWatches();
  ReadFiles();
}

std::uint64_t ByteSource::Drain(WorkerStream stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return 0;
  Stream& source = found->second;
  source.drained = true;
  std::uint64_t total = source.total;
  if (source.ended) {
    streams_.erase(found);
    return total;
  }
  // Only what is there now: whoever holds the pipe still may write for ever.
  const std::uint64_t until = total + BytesWaiting(source.fd.get());
  while (total < until) {
    const auto most = std::min<std::uint64_t>(until - total, kPiece);
    // At its end it is erased; but what is there comes before the end.
    if (!Read(stream, static_cast<std::size_t>(most))) break;
    total = source.total;
  }
  return total;
}

void ByteSource::OnReadable(WorkerStream stream) {
  Read(stream, kPiece);
  if (!HasRoom()) UpdateWatches();
}

bool ByteSource::Read(WorkerStream stream, std::size_t most) {
  Stream& source = streams_.at(stream);
  const ssize_t n = ::read(source.fd.get(), buffer_.data(), most);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) {
    End(stream);
    return false;
  }
  const auto size = static_cast<std::size_t>(n);
  source.total += size;
  Send({stream, buffer_.substr(0, size), false});
  return true;
}

void ByteSource::End(WorkerStream stream) {
  Stream& source = streams_.at(stream);
  source.watch.reset();
  source.fd.Reset();
  source.ended = true;
  if (source.drained) streams_.erase(stream);
  Send({stream, "", true});
}

void ByteSource::Send(WorkerBytes piece) {
  if (!HasRoom()) {
    waiting_.push_back(std::move(piece));
    return;
  }
  ++on_their_way_;
  send_(std::move(piece));
}

void ByteSource::UpdateWatches() {
  for (auto& [stream, source] : streams_) {
    if (!source.watch) continue;
    if (HasRoom()) {
      source.watch->Resume();
    } else {
      source.watch->Pause();
    }
  }
}

void ByteSource::ReadFiles() {
  for (auto next = streams_.begin(); next != streams_.end();) {
    const WorkerStream stream = next->first;
    const bool readable = next->second.is_file && !next->second.ended;
    ++next;  // its end may remove it
    while (readable && HasRoom() && Read(stream, kPiece)) {
    }
  }
}

}  // namespace hvd
