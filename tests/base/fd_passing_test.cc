#include "base/fd_passing.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace hvd {
namespace {

struct SocketPair {
  SocketPair() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) ==
            0);
    near.Reset(ends[0]);
    far.Reset(ends[1]);
  }
  UniqueFd near;
  UniqueFd far;
};

// No descriptor of this process can be opened at or above `limit` meanwhile.
class OpenFilesLimited {
 public:
  explicit OpenFilesLimited(rlim_t limit) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit lower{limit, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &lower) == 0);
  }
  ~OpenFilesLimited() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  OpenFilesLimited(const OpenFilesLimited&) = delete;
  OpenFilesLimited& operator=(const OpenFilesLimited&) = delete;

 private:
  rlimit before_{};
};

int LowestFree() {
  const UniqueFd probe(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return probe.get();
}

}  // namespace

TEST_CASE("a passed descriptor is the same open file, closed on exec",
          "[base]") {
  const SocketPair pair;
  const SocketPair passed;
  const std::array<int, 1> fds = {passed.near.get()};
  REQUIRE(SendStep(pair.near.get(), "hello", fds).value() == 5);
  std::array<char, 16> buffer{};
  std::vector<UniqueFd> came;
  const auto step = ReceiveStep(pair.far.get(), buffer, came);
  REQUIRE(step.ok());
  CHECK(std::string(buffer.data(), step.value().bytes) == "hello");
  REQUIRE(came.size() == 1);
  CHECK(::fcntl(came[0].get(), F_GETFD) == FD_CLOEXEC);
  REQUIRE(::write(came[0].get(), "x", 1) == 1);
  char got = 0;
  CHECK(::read(passed.far.get(), &got, 1) == 1);
}

TEST_CASE("a step tells nothing yet from the end", "[base]") {
  SocketPair pair;
  std::array<char, 16> buffer{};
  std::vector<UniqueFd> came;
  const auto nothing = ReceiveStep(pair.far.get(), buffer, came);
  REQUIRE(nothing.ok());
  CHECK(nothing.value().bytes == 0);
  CHECK_FALSE(nothing.value().end);
  pair.near.Reset();
  CHECK(ReceiveStep(pair.far.get(), buffer, came).value().end);
}

TEST_CASE("a full socket takes what it can and then nothing", "[base]") {
  const SocketPair pair;
  const std::string block(std::size_t{1} << 20U, 'x');
  std::size_t last = 1;
  for (int i = 0; i < 100 && last > 0; ++i) {
    last = SendStep(pair.near.get(), block, {}).value();
  }
  CHECK(last == 0);
}

TEST_CASE("descriptors that there is no room for are told and leave no gap",
          "[base]") {
  const SocketPair pair;
  const std::array<int, 2> fds = {pair.near.get(), pair.far.get()};
  REQUIRE(SendStep(pair.near.get(), "x", fds).value() == 1);
  std::array<char, 16> buffer{};
  std::vector<UniqueFd> came;
  const int free_before = LowestFree();
  {
    const OpenFilesLimited limited(static_cast<rlim_t>(free_before) + 1);
    const auto step = ReceiveStep(pair.far.get(), buffer, came);
    REQUIRE(step.ok());
    CHECK(step.value().bytes == 1);
    CHECK(step.value().fds_lost);
  }
  CHECK(came.empty());
  CHECK(LowestFree() == free_before);
}

}  // namespace hvd
