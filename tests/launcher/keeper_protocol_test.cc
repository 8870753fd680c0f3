#include "launcher/keeper_protocol.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace hvd {
namespace {

const std::vector<KeeperCommand>& Commands() {
  static const std::vector<KeeperCommand> kCommands{
      KeeperConfigure{Duration(2500), FdLimit{1024, 4096}},
      KeeperConfigure{Duration(0), std::nullopt},
      KeeperLaunch{LaunchId{7},
                   {"./train", "--name", "", "a b\n\"c\""},
                   {{"PATH", "/bin"}, {"EMPTY", ""}, {"BYTES", "\xff\x01="}},
                   "/tmp"},
      KeeperSignal{LaunchId{-1}, 15}, KeeperStopAll{Duration(10'000)}};
  return kCommands;
}

const std::vector<KeeperEvent>& Events() {
  static const std::vector<KeeperEvent> kEvents{
      KeeperStarted{LaunchId{0}, 4711},
      KeeperStartFailed{LaunchId{3}, ErrorCode::kNotFound, "x: not found"},
      KeeperExited{LaunchId{1}, {255, 0}}, KeeperExited{LaunchId{2}, {0, 9}},
      KeeperAllStopped{2}};
  return kEvents;
}

std::string BodyOf(const std::string& frame) {
  FrameReader reader;
  reader.Append(frame);
  const auto body = reader.Next();
  REQUIRE(body.ok());
  REQUIRE(body.value().has_value());
  return std::string(*body.value());
}

template <class Message>
std::string Body(const Message& message) {
  const Result<std::string> frame = EncodeFrame(message);
  REQUIRE(frame.ok());
  return BodyOf(frame.value());
}

}  // namespace

TEST_CASE("keeper commands come out as they went in", "[launcher]") {
  for (const KeeperCommand& command : Commands()) {
    const auto decoded = DecodeCommand(Body(command));
    REQUIRE(decoded.ok());
    CHECK(decoded.value() == command);
  }
}

TEST_CASE("keeper events come out as they went in", "[launcher]") {
  for (const KeeperEvent& event : Events()) {
    const auto decoded = DecodeEvent(Body(event));
    REQUIRE(decoded.ok());
    CHECK(decoded.value() == event);
  }
}

TEST_CASE("a keeper frame cut short anywhere is refused", "[launcher]") {
  for (const KeeperCommand& command : Commands()) {
    const std::string body = Body(command);
    for (std::size_t size = 0; size < body.size(); ++size) {
      CAPTURE(command.index(), size);
      const auto decoded = DecodeCommand(body.substr(0, size));
      REQUIRE_FALSE(decoded.ok());
      CHECK(decoded.error().code() == ErrorCode::kInvalidArgument);
    }
  }
  for (const KeeperEvent& event : Events()) {
    const std::string body = Body(event);
    for (std::size_t size = 0; size < body.size(); ++size) {
      CAPTURE(event.index(), size);
      REQUIRE_FALSE(DecodeEvent(body.substr(0, size)).ok());
    }
  }
}

TEST_CASE("a keeper frame with bytes left over is refused", "[launcher]") {
  for (const KeeperCommand& command : Commands()) {
    const auto decoded = DecodeCommand(Body(command) + '\0');
    REQUIRE_FALSE(decoded.ok());
    CHECK(decoded.error().message() == "keeper frame: 1 bytes left over");
  }
}

TEST_CASE("a keeper frame of an unknown type is refused", "[launcher]") {
  const auto command = DecodeCommand("\x7f");
  REQUIRE_FALSE(command.ok());
  CHECK(command.error().message() == "keeper frame: unknown type 127");
  CHECK_FALSE(DecodeEvent("\x04").ok());
  CHECK_FALSE(DecodeCommand("").ok());
}

TEST_CASE("a keeper frame with a false count allocates nothing and is refused",
          "[launcher]") {
  std::string body = Body(
      KeeperCommand(KeeperLaunch{LaunchId{1}, {"true"}, {{"A", "B"}}, ""}));
  // Type, id and the empty directory come before the number of words.
  const std::uint32_t many = 0xffffffffU;
  std::memcpy(body.data() + 1 + sizeof(int) + sizeof many, &many, sizeof many);
  CHECK_FALSE(DecodeCommand(body).ok());
}

TEST_CASE("a keeper command outside its range is refused", "[launcher]") {
  CHECK_FALSE(DecodeCommand(Body(KeeperCommand(KeeperSignal{{}, 0}))).ok());
  CHECK_FALSE(DecodeCommand(Body(KeeperCommand(KeeperSignal{{}, 65}))).ok());
  CHECK_FALSE(
      DecodeCommand(Body(KeeperCommand(KeeperStopAll{Duration(-1)}))).ok());
  CHECK_FALSE(
      DecodeCommand(Body(KeeperCommand(KeeperStopAll{Duration::max()}))).ok());
  // No word to run.
  CHECK_FALSE(DecodeCommand(Body(KeeperCommand(KeeperLaunch{}))).ok());
  CHECK_FALSE(DecodeEvent(Body(KeeperEvent(KeeperStarted{{}, -1}))).ok());
}

TEST_CASE("an environment of several megabytes fits a keeper frame",
          "[launcher]") {
  KeeperLaunch launch{LaunchId{1}, {"true"}, {}, "/"};
  for (int i = 0; i < 60; ++i) {
    launch.env.emplace_back("V" + std::to_string(i), std::string(100'000, 'x'));
  }
  const auto decoded = DecodeCommand(Body(KeeperCommand(launch)));
  REQUIRE(decoded.ok());
  CHECK(decoded.value() == KeeperCommand(launch));
}

TEST_CASE("a keeper command that no frame can hold is refused by its sender",
          "[launcher]") {
  const KeeperLaunch launch{
      LaunchId{1}, {std::string(kMaxKeeperFrame, 'x')}, {}, ""};
  const auto frame = EncodeFrame(KeeperCommand(launch));
  REQUIRE_FALSE(frame.ok());
  CHECK(frame.error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("FrameReader gives whole frames however their bytes arrive",
          "[launcher]") {
  std::string stream;
  for (const KeeperEvent& event : Events()) {
    stream += EncodeFrame(event).value();
  }
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    FrameReader reader;
    std::vector<KeeperEvent> got;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      reader.Append(std::string_view(stream).substr(at, step));
      for (;;) {
        const auto body = reader.Next();
        REQUIRE(body.ok());
        if (!body.value()) break;
        got.push_back(DecodeEvent(*body.value()).value());
      }
    }
    CAPTURE(step);
    REQUIRE(got == Events());
  }
}

TEST_CASE("FrameReader refuses a length that no frame of ours has",
          "[launcher]") {
  FrameReader reader;
  const std::uint32_t length = kMaxKeeperFrame + 1;
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  reader.Append(bytes);
  const auto body = reader.Next();
  REQUIRE_FALSE(body.ok());
  CHECK(body.error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("no random bytes crash the keeper's decoders", "[launcher]") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    // A valid frame with a few bytes changed reaches further than noise.
    std::string body = Body(Commands()[random() % Commands().size()]);
    for (auto i = random() % 4; i > 0; --i) {
      body[random() % body.size()] = static_cast<char>(random());
    }
    const auto command = DecodeCommand(body);
    if (command.ok()) {
      // What is accepted can be said again.
      CHECK(DecodeCommand(Body(command.value())).value() == command.value());
    }
    (void)DecodeEvent(body).ok();
  }
}

}  // namespace hvd
