#include "launcher/byte_source.h"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "launcher/output_pipe.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

struct Fixture {
  WorkerStream Add(int fd) {
    Result<OutputPipe> pipe = MakeOutputPipe();
    REQUIRE(pipe.ok());
    const WorkerStream stream{LaunchId{1}, fd};
    source.Add(stream, std::move(pipe.value().read_end));
    writer = std::move(pipe.value().write_end);
    return stream;
  }
  void Write(std::size_t size) {
    const std::string text(size, 'x');
    REQUIRE(::write(writer.get(), text.data(), size) ==
            static_cast<ssize_t>(size));
  }
  std::size_t Sent() const {
    std::size_t total = 0;
    for (const WorkerBytes& piece : pieces) total += piece.bytes.size();
    return total;
  }

  EventLoop loop;
  std::vector<WorkerBytes> pieces;
  ByteSource source{loop, [this](WorkerBytes b) { pieces.push_back(b); }};
  UniqueFd writer;
};

}  // namespace

TEST_CASE("a stream is sent as it comes, with its end", "[agent]") {
  Fixture t;
  const WorkerStream stream = t.Add(1);
  t.Write(5);
  REQUIRE(t.loop.RunUntil([&] { return t.pieces.size() == 1; }, 5s));
  t.writer.Reset();
  REQUIRE(t.loop.RunUntil([&] { return t.pieces.size() == 2; }, 5s));
  CHECK(t.pieces[0] == WorkerBytes{stream, "xxxxx", false});
  CHECK(t.pieces[1] == WorkerBytes{stream, "", true});
  CHECK(t.source.Drain(stream) == 5);
}

TEST_CASE("no more than a window is on its way", "[agent]") {
  Fixture t;
  t.Add(1);
  for (std::size_t i = 0; i < 2 * ByteSource::kWindow; ++i) {
    t.Write(100);
    t.loop.RunUntil([&] { return t.pieces.size() > i; }, 50ms);
  }
  CHECK(t.pieces.size() == ByteSource::kWindow);
  t.source.OnSent();
  CHECK(t.loop.RunUntil([&] { return t.pieces.size() > ByteSource::kWindow; },
                        5s));
}

TEST_CASE("draining counts all bytes and sends them when there is room",
          "[agent]") {
  Fixture t;
  const WorkerStream stream = t.Add(2);
  for (std::size_t i = 0; i < ByteSource::kWindow; ++i) {
    t.Write(1000);
    REQUIRE(t.loop.RunUntil([&] { return t.pieces.size() == i + 1; }, 5s));
  }
  t.Write(100'000);
  CHECK(t.source.Drain(stream) == 1000 * ByteSource::kWindow + 100'000);
  CHECK(t.pieces.size() == ByteSource::kWindow);
  for (std::size_t i = 0; i < ByteSource::kWindow; ++i) t.source.OnSent();
  CHECK(t.Sent() == 1000 * ByteSource::kWindow + 100'000);
}

TEST_CASE("a file is read piece by piece", "[agent]") {
  Fixture t;
  const testing::TemporaryDirectory directory;
  constexpr std::size_t kBytes = 2 * ByteSource::kWindow * ByteSource::kPiece;
  const std::string path = directory.Write("file", std::string(kBytes, 'f'));
  t.source.Add({LaunchId{2}, 0}, UniqueFd(::open(path.c_str(), O_RDONLY)));
  CHECK(t.Sent() == ByteSource::kWindow * ByteSource::kPiece);
  while (!t.pieces.back().end) t.source.OnSent();
  CHECK(t.Sent() == kBytes);
}

TEST_CASE("a device that never waits is read as a file is", "[agent]") {
  Fixture t;
  t.source.Add({LaunchId{2}, 0}, UniqueFd(::open("/dev/null", O_RDONLY)));
  REQUIRE(t.pieces.size() == 1);
  CHECK(t.pieces.front().end);
}

}  // namespace hvd
