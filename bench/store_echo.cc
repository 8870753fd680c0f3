#include "bench/store_echo.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/check.h"

namespace hvd::bench {
namespace {

void Watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  HVD_CHECK(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

void AcceptAll(int epoll, int listener) {
  for (;;) {
    const int fd =
        ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    Watch(epoll, fd);
  }
}

void Answer(int fd, const std::string& answer) {
  std::array<char, 16384> chunk{};
  const ssize_t n = ::recv(fd, chunk.data(), chunk.size(), 0);
  if (n > 0) {
    ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
  } else if (n == 0 || errno != EAGAIN) {
    ::close(fd);
  }
}

}  // namespace

void ServeEcho(int listener, const std::string& answer) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  Watch(epoll, listener);
  std::array<epoll_event, 128> events{};
  for (;;) {
    const int n =
        ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener) {
        AcceptAll(epoll, listener);
      } else {
        Answer(fd, answer);
      }
    }
  }
}

}  // namespace hvd::bench
