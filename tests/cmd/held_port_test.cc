#include "cmd/held_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "base/unique_fd.h"

namespace hvd {
namespace {

bool CanListen(std::uint16_t port, bool reuse) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = reuse ? 1 : 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address),
                sizeof address) == 0 &&
         ::listen(fd.get(), 1) == 0;
}

}  // namespace

TEST_CASE("HeldPort leaves the port to a listener that sets SO_REUSEADDR",
          "[cmd]") {
  const Result<HeldPort> held = HeldPort::Bind("127.0.0.1");
  REQUIRE(held.ok());
  CHECK(held.value().port() != 0);
  CHECK(CanListen(held.value().port(), true));
  CHECK_FALSE(CanListen(held.value().port(), false));
}

TEST_CASE("HeldPort takes IPv6 and refuses what is no address", "[cmd]") {
  CHECK(HeldPort::Bind("::1").ok());
  CHECK(HeldPort::Bind("localhost").error().message() ==
        "MASTER_PORT: localhost: not an IP address");
}

TEST_CASE("HeldPort gives a port to one job only", "[cmd]") {
  const Result<HeldPort> first = HeldPort::Bind("127.0.0.1");
  REQUIRE(first.ok());
  const std::uint16_t port = first.value().port();
  const Result<HeldPort> second = HeldPort::Bind("127.0.0.1", {port, port});
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message() ==
        "MASTER_PORT on 127.0.0.1: no free port in " + std::to_string(port));
  CHECK_FALSE(HeldPort::Bind(kAllAddresses, {port, port}).ok());
}

}  // namespace hvd
