#include "launcher/socket_relay.h"

#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>

using namespace std::chrono_literals;

namespace hvd {
namespace {

constexpr std::uint64_t kOne = 1;

// Both ends in one process; what they say to each other takes a turn of the
// loop.
struct Tunnel {
  Tunnel() {
    left.Add(kOne, MakeSocket(client));
    right.Add(kOne, MakeSocket(server));
  }

  static UniqueFd MakeSocket(UniqueFd& other) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                         ends.data()) == 0);
    other = UniqueFd(ends[0]);
    return UniqueFd(ends[1]);
  }
  static std::size_t Put(const UniqueFd& fd, const std::string& bytes) {
    const ssize_t n =
        ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return n < 0 ? 0 : static_cast<std::size_t>(n);
  }
  // What is there, up to `most`; "" also at the end.
  static std::string Take(const UniqueFd& fd, std::size_t most = 1 << 20) {
    std::string bytes(most, '\0');
    const ssize_t n = ::recv(fd.get(), bytes.data(), bytes.size(), 0);
    bytes.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return bytes;
  }
  static bool IsAtEnd(const UniqueFd& fd) {
    char byte = 0;
    return ::recv(fd.get(), &byte, 1, MSG_PEEK) == 0;
  }
  bool Until(const std::function<bool()>& done) {
    return loop.RunUntil(done, 10s);
  }
  std::size_t on_their_way() const { return sent - taken; }

  EventLoop loop;
  UniqueFd client;
  UniqueFd server;
  std::size_t sent = 0;  // pieces, by the left end
  std::size_t taken = 0;
  SocketRelay left{
      loop,
      [this](TunnelPiece piece) {
        ++sent;
        loop.Post([this, piece = std::move(piece)] { right.OnPiece(piece); });
      },
      [this](TunnelTaken t) { loop.Post([this, t] { right.OnTaken(t); }); }};
  SocketRelay right{
      loop,
      [this](TunnelPiece piece) {
        loop.Post([this, piece = std::move(piece)] { left.OnPiece(piece); });
      },
      [this](TunnelTaken t) {
        ++taken;
        loop.Post([this, t] { left.OnTaken(t); });
      }};
};

}  // namespace

TEST_CASE("what one socket is told the other one says, both ways", "[agent]") {
  Tunnel t;
  std::string heard;
  Tunnel::Put(t.client, "question");
  REQUIRE(
      t.Until([&] { return (heard += Tunnel::Take(t.server)).size() == 8; }));
  CHECK(heard == "question");
  Tunnel::Put(t.server, "answer");
  REQUIRE(t.Until([&] { return Tunnel::Take(t.client) == "answer"; }));
}

TEST_CASE("an end that has said its last word still hears", "[agent]") {
  Tunnel t;
  Tunnel::Put(t.client, "last");
  ::shutdown(t.client.get(), SHUT_WR);
  REQUIRE(t.Until([&] { return Tunnel::Take(t.server) == "last"; }));
  REQUIRE(t.Until([&] { return Tunnel::IsAtEnd(t.server); }));
  Tunnel::Put(t.server, "yes");
  REQUIRE(t.Until([&] { return Tunnel::Take(t.client) == "yes"; }));
  CHECK(t.left.size() == 1);
}

TEST_CASE("a connection is forgotten when both have said their last word",
          "[agent]") {
  Tunnel t;
  Tunnel::Put(t.client, "last");
  t.client.Reset();
  REQUIRE(t.Until([&] { return Tunnel::Take(t.server) == "last"; }));
  t.server.Reset();
  CHECK(t.Until([&] { return t.left.size() + t.right.size() == 0; }));
}

TEST_CASE("a reader that does not read holds up its writer", "[agent]") {
  Tunnel t;
  const std::string piece(1 << 20, 'p');
  std::size_t put = 0;
  REQUIRE(t.Until([&] {
    put += Tunnel::Put(t.client, piece);
    return t.on_their_way() == SocketRelay::kWindow;
  }));
  // There is no room but in the client's own socket.
  for (std::size_t n = 1; n > 0; put += n) n = Tunnel::Put(t.client, piece);
  CHECK(t.on_their_way() == SocketRelay::kWindow);
  std::size_t got = 0;
  CHECK(t.Until([&] {
    got += Tunnel::Take(t.server).size();
    REQUIRE(t.on_their_way() <= SocketRelay::kWindow);
    return got == put;
  }));
}

TEST_CASE("a peer that does not keep to the window is cut off", "[agent]") {
  Tunnel t;
  const std::string piece(SocketRelay::kPiece, 'p');
  int more = 0;
  while (t.right.Has(kOne) && ++more < 100) t.right.OnPiece({kOne, piece});
  CHECK_FALSE(t.right.Has(kOne));
  CHECK(t.Until([&] { return Tunnel::IsAtEnd(t.client); }));
}

TEST_CASE("what is said after the end cuts off, and of nobody nothing",
          "[agent]") {
  Tunnel t;
  t.right.OnPiece({kOne, "bye", true});
  t.right.OnPiece({kOne, "and then"});
  CHECK_FALSE(t.right.Has(kOne));
  t.right.OnPiece({7, "who?", true});
  t.right.OnTaken({7});
  CHECK(t.right.size() == 0);
}

}  // namespace hvd
