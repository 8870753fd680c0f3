// A bare TCP listener on 127.0.0.1, for tests that play the server themselves.
#pragma once

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <cstdint>

#include "base/socket_address.h"
#include "base/unique_fd.h"

namespace hvd::testing {

inline UniqueFd ListenOnLoopback() {
  const auto address = ParseSocketAddress("127.0.0.1", 0);
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(fd.get(), address->get(), address->size) == 0);
  REQUIRE(::listen(fd.get(), 8) == 0);
  return fd;
}

inline std::uint16_t PortOf(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) == 0);
  return hvd::PortOf(bound);
}

}  // namespace hvd::testing
