#include "tests/support/raw_connection.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <catch2/catch.hpp>
#include <functional>

namespace hvd::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string Receive(int fd, milliseconds limit,
                    const std::function<bool(const std::string&)>& enough) {
  const auto end = steady_clock::now() + limit;
  std::string text;
  while (!enough(text)) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(end - steady_clock::now());
    pollfd ready{fd, POLLIN, 0};
    if (left.count() <= 0 ||
        ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) {
      break;
    }
    std::array<char, 4096> buffer{};
    const ssize_t n = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (n <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

RawConnection::RawConnection(std::uint16_t port)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  REQUIRE(fd_.valid());
  const timeval patience{2, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address),
                    sizeof address) == 0);
}

bool RawConnection::Send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t n =
        ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::string RawConnection::ReceiveAll(milliseconds limit) const {
  return Receive(fd_.get(), limit, [](const std::string&) { return false; });
}

std::string RawConnection::ReceiveHead(milliseconds limit) const {
  return Receive(fd_.get(), limit, [](const std::string& text) {
    return text.find("\r\n\r\n") != std::string::npos;
  });
}

}  // namespace hvd::testing
