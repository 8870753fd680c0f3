#include "base/port_range.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <vector>

#include "base/socket_address.h"
#include "tests/support/free_ports.h"

namespace hvd {
namespace {

using testing::FreePorts;

bool CanConnect(const std::string& address, std::uint16_t port) {
  const auto at = ParseSocketAddress(address, port);
  const UniqueFd fd(
      ::socket(at->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(fd.get(), at->get(), at->size) == 0;
}

}  // namespace

TEST_CASE("a port range reads back as it was written", "[base]") {
  CHECK(ParsePortRange("40000-40099").value() == PortRange{40000, 40099});
  CHECK(ParsePortRange("1-65535").value() == PortRange{1, 65535});
  CHECK(ParsePortRange("4000").value() == PortRange{4000, 4000});
  for (const char* text : {"40000-40099", "4000"}) {
    CHECK(ToString(ParsePortRange(text).value()) == text);
  }
  CHECK(ToString(PortRange{}).empty());
}

TEST_CASE("what is no port range is refused", "[base]") {
  for (const char* text : {"", "-", "0-5", "5-", "-5", "a-b", "1-65536",
                           "1 - 2", "1-2-3", "4000 ", "+1-2"}) {
    INFO(text);
    CHECK(ParsePortRange(text).error().message() ==
          "must be two ports from 1 to 65535, such as 40000-40099");
  }
  CHECK(ParsePortRange("9-8").error().message() ==
        "must begin with the lower port");
}

TEST_CASE("a range gives each of its ports once and then says it is full",
          "[base]") {
  const PortRange range = FreePorts(4, 20000);
  std::vector<UniqueFd> held;
  for (int i = 0; i < 4; ++i) {
    auto fd = ListenInRange("127.0.0.1", range, "probe listener");
    REQUIRE(fd.ok());
    const std::uint16_t port = BoundPort(fd.value().get());
    CHECK(port >= range.first);
    CHECK(port <= range.last);
    held.push_back(std::move(fd).value());
  }
  const auto full = ListenInRange("127.0.0.1", range, "probe listener");
  REQUIRE_FALSE(full.ok());
  CHECK(full.error().code() == ErrorCode::kUnavailable);
  CHECK(full.error().message() ==
        "probe listener on 127.0.0.1: no free port in " + ToString(range));
  CHECK(full.error().hint().find("--port-range") != std::string::npos);
}

TEST_CASE("a port that is held is given neither to a listener nor held twice",
          "[base]") {
  const PortRange range = FreePorts(1, 22000);
  const auto held = HoldInRange(kAllAddresses, range, "MASTER_PORT");
  REQUIRE(held.ok());
  CHECK_FALSE(HoldInRange("127.0.0.1", range, "MASTER_PORT").ok());
  CHECK_FALSE(HoldInRange(kAllAddresses, range, "MASTER_PORT").ok());
  CHECK_FALSE(ListenInRange("127.0.0.1", range, "probe listener").ok());
}

TEST_CASE("old connections do not use a range up", "[base]") {
  const PortRange range = FreePorts(1, 24000);
  for (int round = 0; round < 3; ++round) {
    INFO(round);
    const auto listener = ListenInRange("127.0.0.1", range, "test");
    REQUIRE(listener.ok());
    const auto at = ParseSocketAddress("127.0.0.1", range.first);
    const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(client.get(), at->get(), at->size) == 0);
    UniqueFd accepted(
        ::accept4(listener.value().get(), nullptr, nullptr, SOCK_CLOEXEC));
    REQUIRE(accepted.valid());
    accepted.Reset();  // this end first: it is the one that stays in TIME_WAIT
    char byte = 0;
    REQUIRE(::recv(client.get(), &byte, 1, 0) == 0);
  }
}

TEST_CASE("a listener on all addresses is reached over IPv4 and IPv6",
          "[base]") {
  const auto fd = ListenInRange(kAllAddresses, {}, "test");
  REQUIRE(fd.ok());
  const std::uint16_t port = BoundPort(fd.value().get());
  CHECK(CanConnect("127.0.0.1", port));
  CHECK(CanConnect("::1", port));
}

TEST_CASE("a listener of one IPv6 address leaves IPv4 alone", "[base]") {
  const auto fd = ListenInRange("::1", {}, "test");
  REQUIRE(fd.ok());
  CHECK_FALSE(CanConnect("127.0.0.1", BoundPort(fd.value().get())));
}

TEST_CASE("an address that is none or not here is refused with its purpose",
          "[base]") {
  CHECK(ListenInRange("localhost", {}, "ring").error().message() ==
        "ring: localhost: not an IP address");
  CHECK(ListenInRange("192.0.2.1", {7000, 7009}, "ring").error().message() ==
        "ring on 192.0.2.1 port range 7000-7009: Cannot assign requested "
        "address");
}

}  // namespace hvd
