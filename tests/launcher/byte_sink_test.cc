#include "launcher/byte_sink.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "launcher/output_pipe.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

const WorkerStream kStream{LaunchId{1}, 1};

struct Fixture {
  Fixture() {
    Result<OutputPipe> pipe = MakeOutputPipe();
    REQUIRE(pipe.ok());
    reader = std::move(pipe.value().read_end);
    sink.Add(kStream, std::move(pipe.value().write_end));
  }
  std::string Read() {
    std::string text(4 << 20, '\0');
    const ssize_t n = ::read(reader.get(), text.data(), text.size());
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }

  EventLoop loop;
  int taken = 0;
  std::vector<WorkerStream> unread;
  ByteSink sink{loop, [this] { ++taken; },
                [this](WorkerStream s) { unread.push_back(s); }};
  UniqueFd reader;
};

}  // namespace

TEST_CASE("a piece that fits is taken at once", "[agent]") {
  Fixture t;
  CHECK(t.sink.Write({kStream, "hello", false}));
  CHECK(t.Read() == "hello");
  CHECK(t.taken == 0);
}

TEST_CASE("a piece that does not fit is told of when it is taken", "[agent]") {
  Fixture t;
  const std::string big(1 << 20, 'b');
  REQUIRE_FALSE(t.sink.Write({kStream, big, true}));
  std::string got;
  REQUIRE(t.loop.RunUntil(
      [&] {
        got += t.Read();
        return t.taken == 1;
      },
      10s));
  got += t.Read();
  CHECK((got == big));
  char byte = 0;
  CHECK(::read(t.reader.get(), &byte, 1) == 0);  // it was the end
}

TEST_CASE("a stream that nobody reads is told of once", "[agent]") {
  Fixture t;
  t.reader.Reset();
  CHECK(t.sink.Write({kStream, "x", false}));
  CHECK(t.sink.Write({kStream, "y", false}));
  REQUIRE(t.loop.RunUntil([&] { return !t.unread.empty(); }, 5s));
  CHECK(t.unread == std::vector<WorkerStream>{kStream});
}

TEST_CASE("removing a stream frees the piece that waits for it", "[agent]") {
  Fixture t;
  REQUIRE_FALSE(t.sink.Write({kStream, std::string(1 << 20, 'b'), false}));
  t.sink.Remove(kStream);
  CHECK(t.loop.RunUntil([&] { return t.taken == 1; }, 5s));
}

}  // namespace hvd
