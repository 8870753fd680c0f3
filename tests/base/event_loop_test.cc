#include "base/event_loop.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    read_end.Reset(ends[0]);
    write_end.Reset(ends[1]);
  }
  UniqueFd read_end;
  UniqueFd write_end;
};

}  // namespace

TEST_CASE("a timer runs once, not before its time", "[base]") {
  EventLoop loop;
  int runs = 0;
  const Instant begin = loop.Now();
  const auto timer = loop.After(20ms, [&] { ++runs; });
  REQUIRE(loop.RunUntil([&] { return runs > 0; }, 5s));
  CHECK(loop.Now() - begin >= 20ms);
  CHECK_FALSE(loop.RunUntil([&] { return runs > 1; }, 40ms));
}

TEST_CASE("a destroyed timer never runs", "[base]") {
  EventLoop loop;
  bool ran = false;
  auto timer = loop.After(0ms, [&] { ran = true; });
  timer.reset();
  CHECK_FALSE(loop.RunUntil([&] { return ran; }, 20ms));
}

TEST_CASE("a readable descriptor calls until it is drained", "[base]") {
  EventLoop loop;
  const Pipe pipe;
  std::string got;
  const auto watch = loop.OnReadable(pipe.read_end.get(), [&] {
    char c = 0;
    if (::read(pipe.read_end.get(), &c, 1) == 1) got += c;
  });
  REQUIRE(::write(pipe.write_end.get(), "abc", 3) == 3);
  CHECK(loop.RunUntil([&] { return got == "abc"; }, 5s));
}

TEST_CASE("a paused watch is silent and loses nothing", "[base]") {
  EventLoop loop;
  const Pipe pipe;
  std::string got;
  const auto watch = loop.OnReadable(pipe.read_end.get(), [&] {
    char c = 0;
    if (::read(pipe.read_end.get(), &c, 1) == 1) got += c;
  });
  watch->Pause();
  REQUIRE(::write(pipe.write_end.get(), "x", 1) == 1);
  CHECK_FALSE(loop.RunUntil([&] { return !got.empty(); }, 20ms));
  watch->Resume();
  CHECK(loop.RunUntil([&] { return got == "x"; }, 5s));
}

TEST_CASE("a watch may destroy itself while it runs", "[base]") {
  EventLoop loop;
  const Pipe pipe;
  int runs = 0;
  std::unique_ptr<FdWatch> watch;
  watch = loop.OnReadable(pipe.read_end.get(), [&] {
    ++runs;
    watch.reset();
  });
  REQUIRE(::write(pipe.write_end.get(), "x", 1) == 1);
  REQUIRE(loop.RunUntil([&] { return runs == 1; }, 5s));
  CHECK_FALSE(loop.RunUntil([&] { return runs > 1; }, 20ms));
}

TEST_CASE("a watch leaves its descriptor open", "[base]") {
  EventLoop loop;
  const Pipe pipe;
  loop.OnReadable(pipe.read_end.get(), [] {}).reset();
  CHECK(::fcntl(pipe.read_end.get(), F_GETFD) >= 0);
}

TEST_CASE("a descriptor can be watched for reading and for writing at once",
          "[base]") {
  EventLoop loop;
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) ==
          0);
  const UniqueFd mine(ends[0]);
  const UniqueFd other(ends[1]);
  bool writable = false;
  bool readable = false;
  std::unique_ptr<FdWatch> writes;
  std::unique_ptr<FdWatch> reads;
  writes = loop.OnWritable(mine.get(), [&] {
    writable = true;
    writes.reset();
  });
  reads = loop.OnReadable(mine.get(), [&] {
    readable = true;
    reads.reset();
  });
  REQUIRE(::write(other.get(), "x", 1) == 1);
  CHECK(loop.RunUntil([&] { return writable && readable; }, 5s));
}

TEST_CASE("a watched descriptor stays blocking: it may be the user's terminal",
          "[base]") {
  EventLoop loop;
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  const auto watch = loop.OnReadable(read_end.get(), [] {});
  loop.RunUntil([] { return false; }, 5ms);
  CHECK((::fcntl(read_end.get(), F_GETFL) & O_NONBLOCK) == 0);
}

TEST_CASE("Post may be called from another thread", "[base]") {
  EventLoop loop;
  bool ran = false;
  std::jthread other([&] { loop.Post([&] { ran = true; }); });
  CHECK(loop.RunUntil([&] { return ran; }, 5s));
}

TEST_CASE("RunUntil believes a condition that held for a moment", "[base]") {
  EventLoop loop;
  int asked = 0;
  CHECK(loop.RunUntil([&] { return ++asked == 1; }, 20ms));
  CHECK(asked == 1);
}

TEST_CASE("Run sleeps until Stop", "[base]") {
  EventLoop loop;
  const Instant begin = loop.Now();
  const auto timer = loop.After(10ms, [&] { loop.Stop(); });
  loop.Run();
  CHECK(loop.Now() - begin >= 10ms);
}

}  // namespace hvd
