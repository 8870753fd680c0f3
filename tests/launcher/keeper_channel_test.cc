#include "launcher/keeper_channel.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hvd {
namespace {

using Received = KeeperChannel::Received;

struct Ends {
  Ends() {
    std::array<int, 2> fds{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) ==
            0);
    first.emplace(UniqueFd(fds[0]));
    second.emplace(UniqueFd(fds[1]));
  }
  std::optional<KeeperChannel> first;
  std::optional<KeeperChannel> second;
};

UniqueFd Open(const char* path) {
  UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  REQUIRE(fd.valid());
  return fd;
}

bool IsFile(const UniqueFd& fd, const char* path) {
  struct stat a {};
  struct stat b {};
  return ::fstat(fd.get(), &a) == 0 && ::stat(path, &b) == 0 &&
         a.st_rdev == b.st_rdev && a.st_ino == b.st_ino;
}

std::string Frame(int id, std::size_t size) {
  return EncodeFrame(KeeperCommand(KeeperLaunch{
                         LaunchId{id}, {std::string(size, 'x')}, {}, ""}))
      .value();
}

// Reads until a frame is whole; its launch id.
int NextId(KeeperChannel& channel) {
  for (;;) {
    const auto body = channel.NextFrame();
    REQUIRE(body.ok());
    if (body.value()) {
      const auto command = DecodeCommand(*body.value());
      REQUIRE(command.ok());
      return static_cast<int>(std::get<KeeperLaunch>(command.value()).id);
    }
    const auto received = channel.Receive();
    REQUIRE(received.ok());
    REQUIRE(received.value() == Received::kBytes);
  }
}

}  // namespace

TEST_CASE("a keeper channel brings descriptors with their frame",
          "[launcher]") {
  Ends ends;
  for (int id = 0; id < 3; ++id) {
    std::vector<UniqueFd> fds;
    fds.push_back(Open("/dev/null"));
    fds.push_back(Open("/dev/zero"));
    fds.push_back(Open("/dev/full"));
    REQUIRE(ends.first->Send(Frame(id, 10), std::move(fds)).ok());
    REQUIRE(ends.first->Send(Frame(id + 100, 10)).ok());
  }
  for (int id = 0; id < 3; ++id) {
    CHECK(NextId(*ends.second) == id);
    const UniqueFd first = ends.second->TakeFd();
    CHECK(IsFile(first, "/dev/null"));
    CHECK((::fcntl(first.get(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(IsFile(ends.second->TakeFd(), "/dev/zero"));
    CHECK(IsFile(ends.second->TakeFd(), "/dev/full"));
    CHECK(NextId(*ends.second) == id + 100);
  }
  CHECK_FALSE(ends.second->TakeFd().valid());
}

TEST_CASE("a keeper channel queues what its socket does not take",
          "[launcher]") {
  Ends ends;
  for (int id = 0; id < 4; ++id) {
    std::vector<UniqueFd> fds;
    fds.push_back(Open(id % 2 == 0 ? "/dev/null" : "/dev/zero"));
    REQUIRE(ends.first->Send(Frame(id, 3U << 20U), std::move(fds)).ok());
  }
  REQUIRE(ends.first->wants_write());
  int next = 0;
  for (int rounds = 0; next < 4 && rounds < 100'000; ++rounds) {
    REQUIRE(ends.first->Flush().ok());
    REQUIRE(ends.second->Receive().ok());
    const auto body = ends.second->NextFrame();
    REQUIRE(body.ok());
    if (!body.value()) continue;
    CHECK(std::get<KeeperLaunch>(DecodeCommand(*body.value()).value()).id ==
          LaunchId{next});
    CHECK(IsFile(ends.second->TakeFd(),
                 next % 2 == 0 ? "/dev/null" : "/dev/zero"));
    ++next;
  }
  CHECK(next == 4);
  CHECK_FALSE(ends.first->wants_write());
}

TEST_CASE("a keeper channel tells the end of the other side", "[launcher]") {
  Ends ends;
  CHECK(ends.second->Receive().value() == Received::kNothing);
  REQUIRE(ends.first->Send(Frame(1, 10)).ok());
  ends.first.reset();
  CHECK(NextId(*ends.second) == 1);
  CHECK(ends.second->Receive().value() == Received::kEndOfFile);
  CHECK_FALSE(ends.second->Send(Frame(2, 10)).ok());
}

TEST_CASE("a keeper channel never mixes up descriptors it can't receive",
          "[launcher]") {
  Ends ends;
  for (int id = 0; id < 2; ++id) {
    std::vector<UniqueFd> fds;
    for (int i = 0; i < 3; ++i) {
      fds.push_back(Open(id == 0 ? "/dev/null" : "/dev/zero"));
    }
    REQUIRE(ends.first->Send(Frame(id, 10), std::move(fds)).ok());
  }
  rlimit own{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &own) == 0);
  const UniqueFd lowest = Open("/dev/null");
  // Room for one more descriptor than there is.
  const rlimit low{static_cast<rlim_t>(lowest.get()) + 2, own.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  const int first = NextId(*ends.second);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &own) == 0);
  CHECK(first == 0);
  for (int i = 0; i < 3; ++i) CHECK_FALSE(ends.second->TakeFd().valid());
  CHECK(NextId(*ends.second) == 1);
  for (int i = 0; i < 3; ++i) {
    CHECK(IsFile(ends.second->TakeFd(), "/dev/zero"));
  }
}

}  // namespace hvd
