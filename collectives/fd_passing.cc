#include "collectives/fd_passing.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace hvd {
namespace {

struct ControlBuffer {
  alignas(cmsghdr)
      std::array<char, CMSG_SPACE(sizeof(int) * kMaxPassedFds)> bytes{};
};

}  // namespace

Status SendWithFds(int socket, std::string_view bytes,
                   std::span<const int> fds) {
  HVD_CHECK(fds.size() <= kMaxPassedFds);
  iovec io{const_cast<char*>(bytes.data()), bytes.size()};  // NOLINT
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(head), fds.data(), fds.size_bytes());
  }
  const ssize_t n = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0) return Error::FromErrno("send", errno);
  if (static_cast<std::size_t>(n) != bytes.size()) {
    return Error(ErrorCode::kUnavailable, "send: the socket takes no more");
  }
  return Done{};
}

Result<std::size_t> ReceiveWithFds(int socket, std::span<char> out,
                                   std::vector<UniqueFd>& fds) {
  iovec io{out.data(), out.size()};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const ssize_t n =
      ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return std::size_t{0};
  }
  if (n < 0) return Error::FromErrno("receive", errno);
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(fd));
      fds.emplace_back(fd);
    }
  }
  if (n == 0) return Error(ErrorCode::kUnavailable, "the other end closed");
  return static_cast<std::size_t>(n);
}

}  // namespace hvd
