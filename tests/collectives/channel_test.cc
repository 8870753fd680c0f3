#include "collectives/channel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "collectives/ring_flow.h"
#include "collectives/shm_channel.h"
#include "collectives/tcp_channel.h"

namespace hvd {
namespace {

struct Ends {
  std::unique_ptr<SendChannel> sender;
  std::unique_ptr<ReceiveChannel> receiver;
  Doorbell sender_bell;
  Doorbell receiver_bell;
};

Ends OpenShm() {
  Ends ends;
  Result<UniqueFd> memory = CreateShmRing();
  REQUIRE(memory.ok());
  auto sender = OpenShmSender(memory.value(), ends.receiver_bell.Share());
  auto receiver = OpenShmReceiver(memory.value(), ends.sender_bell.Share());
  REQUIRE(sender.ok());
  REQUIRE(receiver.ok());
  ends.sender = std::move(sender).value();
  ends.receiver = std::move(receiver).value();
  return ends;
}

// Any connected stream does.
Ends OpenStream() {
  std::array<int, 2> fds{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) ==
          0);
  Ends ends;
  ends.sender = MakeTcpSender(UniqueFd(fds[0]));
  ends.receiver = MakeTcpReceiver(UniqueFd(fds[1]));
  return ends;
}

// Moves `words` numbers through, in pieces of random lengths; empty if they
// arrive as they were.
std::string Pump(Ends& ends, std::size_t words, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint64_t> in(words);
  std::iota(in.begin(), in.end(), 1U);
  std::vector<std::uint64_t> out(words);
  const auto in_bytes = std::as_bytes(std::span(in));
  const auto out_bytes = std::as_writable_bytes(std::span(out));
  std::size_t sent = 0;
  std::size_t received = 0;
  while (received < out_bytes.size()) {
    const std::size_t offer = std::min<std::size_t>(
        in_bytes.size() - sent, 8 * (1 + random() % 20'000));
    if (offer > 0) {
      const auto n = ends.sender->TrySend(in_bytes.subspan(sent, offer));
      if (!n.ok()) return n.error().message();
      sent += n.value();
    }
    const std::size_t want = std::min<std::size_t>(out_bytes.size() - received,
                                                   8 * (1 + random() % 20'000));
    if (random() % 2 == 0) {
      const auto n =
          ends.receiver->TryReceive(out_bytes.subspan(received, want));
      if (!n.ok()) return n.error().message();
      received += n.value();
      continue;
    }
    const auto peeked = ends.receiver->Peek(want);
    if (!peeked.ok()) return peeked.error().message();
    const std::size_t whole = peeked.value().size() / 8 * 8;
    std::memcpy(out_bytes.data() + received, peeked.value().data(), whole);
    ends.receiver->Consume(whole);
    received += whole;
  }
  return in == out ? "" : "the bytes differ";
}

}  // namespace

TEST_CASE("A channel delivers what was sent, in order and once",
          "[collectives]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  Ends shm = OpenShm();
  Ends stream = OpenStream();
  // Several times round the shared ring.
  for (const std::size_t words : {1UL, 1000UL, 300'000UL}) {
    CHECK(Pump(shm, words, seed) == "");
    CHECK(Pump(stream, words, seed) == "");
  }
}

TEST_CASE("A full shared ring takes nothing and wakes its writer when read",
          "[collectives]") {
  Ends ends = OpenShm();
  const std::vector<std::byte> bytes(kShmRingBytes);
  std::size_t sent = 0;
  while (sent < kShmRingBytes) {
    sent += ends.sender->TrySend(std::span(bytes).subspan(sent)).value();
  }
  CHECK(ends.sender->TrySend(bytes).value() == 0);
  REQUIRE(ends.sender->Arm());
  std::array<std::byte, 64> out{};
  CHECK(ends.receiver->TryReceive(out).value() == out.size());
  pollfd rung{ends.sender_bell.fd(), POLLIN, 0};
  CHECK(::poll(&rung, 1, 0) == 1);
  CHECK_FALSE(ends.sender->Arm());  // there is room now
}

TEST_CASE("An empty shared ring wakes its reader only when it asked",
          "[collectives]") {
  Ends ends = OpenShm();
  const std::array<std::byte, 8> bytes{};
  pollfd rung{ends.receiver_bell.fd(), POLLIN, 0};
  CHECK(ends.sender->TrySend(bytes).value() == 8);
  CHECK(::poll(&rung, 1, 0) == 0);
  CHECK_FALSE(ends.receiver->Arm());  // bytes are there already
  ends.receiver->Consume(ends.receiver->Peek(8).value().size());
  REQUIRE(ends.receiver->Arm());
  CHECK(ends.sender->TrySend(bytes).value() == 8);
  CHECK(::poll(&rung, 1, 0) == 1);
}

TEST_CASE("Memory that is not a sealed ring is not mapped", "[collectives]") {
  const UniqueFd unsealed(::memfd_create("test", MFD_CLOEXEC));
  REQUIRE(unsealed.valid());
  CHECK(OpenShmReceiver(unsealed, Doorbell()).error().code() ==
        ErrorCode::kInvalidArgument);
  const UniqueFd small(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(::fcntl(small.get(), F_ADD_SEALS,
                  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
  CHECK(OpenShmSender(small, Doorbell()).error().code() ==
        ErrorCode::kInvalidArgument);
}

TEST_CASE("A stream whose other end is closed gives an error",
          "[collectives]") {
  Ends ends = OpenStream();
  ends.sender.reset();
  std::array<std::byte, 8> out{};
  CHECK_FALSE(ends.receiver->TryReceive(out).ok());
  Ends other = OpenStream();
  other.receiver.reset();
  CHECK_FALSE(other.sender->TrySend(out).ok());  // and no SIGPIPE
}

TEST_CASE("A flow sends ahead by its head only, whatever the piece lengths",
          "[collectives]") {
  Ends out = OpenStream();
  Ends in = OpenStream();
  const std::array<char, 12> first{};
  std::array<char, 12> second{};
  Flow flow;
  flow.sends = {{first.data(), 12}, {nullptr, 0}, {second.data(), 12}};
  flow.receives = {{nullptr, 0}, {second.data(), 12}, {nullptr, 0}};
  flow.head = Padded(12);
  RingFlow run(flow, *out.sender, *in.receiver);
  while (run.Send().value()) {
  }
  CHECK_FALSE(run.may_send());
  CHECK_FALSE(run.done());
  const std::array<std::byte, 16> incoming{};
  // Up to and into the padding, a few bytes at a time.
  for (std::size_t at = 0; at < incoming.size(); at += 5) {
    const auto piece = std::span(incoming).subspan(
        at, std::min<std::size_t>(5, incoming.size() - at));
    REQUIRE(in.sender->TrySend(piece).value() == piece.size());
    while (run.Receive().value()) {
    }
    while (run.Send().value()) {
    }
    CHECK_FALSE(run.may_send());
  }
  CHECK(run.done());
  std::array<std::byte, 64> sent{};
  CHECK(out.receiver->TryReceive(sent).value() == 32);
}

}  // namespace hvd
