#include "launcher/keeper_channel.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace hvd {
namespace {

constexpr std::size_t kMaxFds = 3;  // a worker's 0, 1 and 2
constexpr std::size_t kReadSize = 64U << 10U;

// Room for the ancillary data of one message, aligned as cmsg(3) asks.
struct ControlBuffer {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxFds)> bytes{};
};

void AttachFds(const std::vector<UniqueFd>& fds, msghdr& message,
               ControlBuffer& control) {
  std::array<int, kMaxFds> numbers{};
  for (std::size_t i = 0; i < fds.size(); ++i) numbers[i] = fds[i].get();
  const std::size_t size = sizeof(int) * fds.size();
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_SPACE(size);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(header), numbers.data(), size);
}

// All descriptors of a message, or as many invalid ones: with some of them
// missing (the limit on open files), the rest would be taken for another's.
void CollectFds(msghdr& message, std::deque<UniqueFd>& fds) {
  const bool cut_short = (message.msg_flags & MSG_CTRUNC) != 0;
  std::vector<UniqueFd> received;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      received.emplace_back(fd);
    }
  }
  if (cut_short) {
    for (std::size_t i = 0; i < kMaxFds; ++i) fds.emplace_back();
    return;
  }
  for (UniqueFd& fd : received) fds.push_back(std::move(fd));
}

bool WouldBlock(int err) { return err == EAGAIN || err == EWOULDBLOCK; }

}  // namespace

Status KeeperChannel::Send(std::string frame, std::vector<UniqueFd> fds) {
  HVD_CHECK(fds.size() <= kMaxFds);
  out_.push_back({std::move(frame), 0, std::move(fds)});
  return Flush();
}

Status KeeperChannel::Flush() {
  while (!out_.empty()) {
    Outgoing& next = out_.front();
    iovec bytes{next.bytes.data() + next.sent, next.bytes.size() - next.sent};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    ControlBuffer control;
    if (!next.fds.empty()) AttachFds(next.fds, message, control);
    const ssize_t n =
        ::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && WouldBlock(errno)) return Done{};
    if (n < 0) return Error::FromErrno("keeper socket", errno);
    next.fds.clear();
    next.sent += static_cast<std::size_t>(n);
    if (next.sent == next.bytes.size()) out_.pop_front();
  }
  return Done{};
}

Result<KeeperChannel::Received> KeeperChannel::Receive() {
  std::array<char, kReadSize> buffer;
  iovec bytes{buffer.data(), buffer.size()};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const ssize_t n =
      ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0 && (errno == EINTR || WouldBlock(errno))) {
    return Received::kNothing;
  }
  if (n < 0 && errno == ECONNRESET) return Received::kEndOfFile;
  if (n < 0) return Error::FromErrno("keeper socket", errno);
  CollectFds(message, fds_);
  if (n == 0) return Received::kEndOfFile;
  reader_.Append({buffer.data(), static_cast<std::size_t>(n)});
  return Received::kBytes;
}

UniqueFd KeeperChannel::TakeFd() {
  if (fds_.empty()) return UniqueFd();
  UniqueFd fd = std::move(fds_.front());
  fds_.pop_front();
  return fd;
}

}  // namespace hvd
