#include "rendezvous/peer_owner.h"

#include <netinet/in.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "base/socket_address.h"
#include "base/unique_fd.h"

namespace hvd {
namespace {

sockaddr_storage NameOf(int fd, int (*get)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  REQUIRE(get(fd, reinterpret_cast<sockaddr*>(&name), &size) == 0);
  return name;
}

// A connection to ourselves over `address`.
struct Pair {
  explicit Pair(const std::string& address) {
    const auto to = ParseSocketAddress(address, 0);
    REQUIRE(to);
    const UniqueFd listener(
        ::socket(to->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(listener.get(), to->get(), to->size) == 0);
    REQUIRE(::listen(listener.get(), 1) == 0);
    const sockaddr_storage bound = NameOf(listener.get(), ::getsockname);
    client.Reset(
        ::socket(to->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(client.get(), reinterpret_cast<const sockaddr*>(&bound),
                      to->size) == 0);
    server.Reset(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    local = NameOf(server.get(), ::getsockname);
    peer = NameOf(server.get(), ::getpeername);
  }
  UniqueFd client;
  UniqueFd server;
  sockaddr_storage local{};
  sockaddr_storage peer{};
};

}  // namespace

TEST_CASE("the kernel names the owner of a loopback peer",
          "[rendezvous][net]") {
  for (const char* address : {"127.0.0.1", "127.0.0.2", "::1"}) {
    INFO(address);
    const Pair pair(address);
    const Result<uid_t> owner = PeerOwner().Find(pair.local, pair.peer);
    INFO((owner.ok() ? "" : owner.error().message()));
    REQUIRE(owner.ok());
    CHECK(owner.value() == ::geteuid());
  }
}

TEST_CASE("a peer that has closed its socket has no owner",
          "[rendezvous][net]") {
  Pair pair("127.0.0.1");
  pair.client.Reset();
  const Result<uid_t> owner = PeerOwner().Find(pair.local, pair.peer);
  REQUIRE_FALSE(owner.ok());
  CHECK(owner.error().message() ==
        "owner of the peer's socket: it has closed it already");
}

TEST_CASE("a socket that never was has no owner", "[rendezvous][net]") {
  const Pair pair("127.0.0.1");
  PeerOwner owners;
  CHECK_FALSE(owners.Find(pair.peer, pair.peer).ok());
  // Nor does the failure spoil the next answer.
  CHECK(owners.Find(pair.local, pair.peer).ok());
  CHECK(owners.Find(pair.local, pair.peer).ok());
}

}  // namespace hvd
