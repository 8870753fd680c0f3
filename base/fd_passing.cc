#include "base/fd_passing.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace hvd {
namespace {

// Room for the ancillary data of one message, aligned as cmsg(3) asks.
struct ControlBuffer {
  alignas(cmsghdr)
      std::array<char, CMSG_SPACE(sizeof(int) * kMaxPassedFds)> bytes{};
};

void Attach(std::span<const int> fds, msghdr& message, ControlBuffer& control) {
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(head), fds.data(), fds.size_bytes());
}

std::vector<UniqueFd> Detach(msghdr& message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

bool NotNow(int err) {
  return err == EAGAIN || err == EWOULDBLOCK || err == EINTR;
}

}  // namespace

Result<std::size_t> SendStep(int socket, std::string_view bytes,
                             std::span<const int> fds) {
  HVD_CHECK(fds.size() <= kMaxPassedFds);
  iovec io{const_cast<char*>(bytes.data()), bytes.size()};  // NOLINT
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  if (!fds.empty()) Attach(fds, message, control);
  const ssize_t n = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n < 0 && NotNow(errno)) return std::size_t{0};
  if (n < 0) return Error::FromErrno("send", errno);
  return static_cast<std::size_t>(n);
}

Result<ReceivedStep> ReceiveStep(int socket, std::span<char> out,
                                 std::vector<UniqueFd>& fds) {
  iovec io{out.data(), out.size()};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const ssize_t n =
      ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0 && NotNow(errno)) return ReceivedStep{};
  if (n < 0 && errno == ECONNRESET) return ReceivedStep{.end = true};
  if (n < 0) return Error::FromErrno("receive", errno);
  std::vector<UniqueFd> came = Detach(message);
  const bool lost = (message.msg_flags & MSG_CTRUNC) != 0;
  if (!lost) std::move(came.begin(), came.end(), std::back_inserter(fds));
  return ReceivedStep{static_cast<std::size_t>(n), n == 0, lost};
}

}  // namespace hvd
