// Probes over real sockets, between the two ends of one job and with all the
// others that may sit at an address.
#include <catch2/catch.hpp>
#include <map>
#include <memory>

#include "base/socket_address.h"
#include "discovery/probe_dialer.h"
#include "discovery/probe_listener.h"
#include "discovery/probe_message.h"
#include "tests/discovery/pump.h"

namespace hvd {
namespace {

using testing::PumpUntil;
using Kind = ProbeResult::Kind;

const std::string kKey = "the key of this job's probes";
constexpr Duration kPatience{20'000};

struct Net {
  EventLoop loop;
  std::unique_ptr<ProbeDialer> dialer = ProbeDialer::Make(loop, kKey);

  std::unique_ptr<ProbeListener> Listen(const std::string& identity,
                                        const std::string& key = kKey) {
    auto listening = ProbeListener::Listen(
        loop, {.key = key, .identity = identity, .ports = {}});
    REQUIRE(listening.ok());
    return std::move(listening).value();
  }

  std::vector<ProbeResult> Dial(const std::vector<ProbeTarget>& targets) {
    std::map<std::size_t, ProbeResult> results;
    dialer->Dial(targets, [&](std::size_t index, const ProbeResult& result) {
      CHECK(results.emplace(index, result).second);
    });
    CHECK(results.empty());  // never from inside
    REQUIRE(PumpUntil(
        loop, [&] { return results.size() == targets.size(); }, kPatience));
    std::vector<ProbeResult> list;
    for (auto& [index, result] : results) list.push_back(result);
    return list;
  }
  ProbeResult DialOne(const ProbeTarget& target) {
    return Dial({target}).front();
  }
};

// A socket that listens and is never accepted from.
UniqueFd MuteListener() {
  auto fd = ListenInRange("127.0.0.1", {}, "test");
  REQUIRE(fd.ok());
  return std::move(fd).value();
}

}  // namespace

TEST_CASE("a probe proves which host answered, over IPv4 and IPv6",
          "[discovery][net]") {
  Net net;
  const auto listener = net.Listen("host-a");
  for (const char* address : {"127.0.0.1", "127.0.0.9", "::1"}) {
    INFO(address);
    const ProbeResult result =
        net.DialOne({address, listener->port(), "host-a"});
    CHECK(result.kind == Kind::kProved);
    CHECK(result.answered_as == "host-a");
    CHECK_FALSE(result.local_address.empty());
    CHECK(result.round_trip < kPatience);
    CHECK(result.failure.empty());
  }
}

TEST_CASE("a probe says that another host of the job answered",
          "[discovery][net]") {
  Net net;
  const auto listener = net.Listen("host-c");
  const ProbeResult result =
      net.DialOne({"127.0.0.1", listener->port(), "host-b"});
  CHECK(result.kind == Kind::kOtherHost);
  CHECK(result.answered_as == "host-c");
}

TEST_CASE("a probe does not believe another job's listener",
          "[discovery][net]") {
  Net net;
  const auto listener = net.Listen("host-a", "another job's key");
  const ProbeResult result =
      net.DialOne({"127.0.0.1", listener->port(), "host-a"});
  CHECK(result.kind == Kind::kNoHvdrun);
  CHECK(result.answered_as.empty());
}

TEST_CASE("a probe says with the kernel's words why nothing was reached",
          "[discovery][net]") {
  Net net;
  std::uint16_t closed = 0;
  {
    const UniqueFd fd = MuteListener();
    closed = BoundPort(fd.get());
  }
  const ProbeResult refused = net.DialOne({"127.0.0.1", closed, "host-a"});
  CHECK(refused.kind == Kind::kUnreached);
  CHECK(refused.failure == "Connection refused");
  CHECK(net.DialOne({"localhost", 1, "host-a"}).failure == "not an IP address");
}

TEST_CASE("a probe gives up on a listener that says nothing",
          "[discovery][net]") {
  Net net;
  const UniqueFd mute = MuteListener();
  const Instant begin = net.loop.Now();
  const ProbeResult result =
      net.DialOne({"127.0.0.1", BoundPort(mute.get()), "host-a"});
  CHECK(result.kind == Kind::kNoHvdrun);
  CHECK(result.failure == "no answer after 2 s");
  CHECK(net.loop.Now() - begin < ProbeDialer::kBatchLimit);
}

TEST_CASE("many probes at once all come back, those that were queued too",
          "[discovery][net]") {
  Net net;
  const auto listener = net.Listen("host-a");
  const std::vector<ProbeTarget> targets(
      500, {"127.0.0.1", listener->port(), "host-a"});
  for (const ProbeResult& result : net.Dial(targets)) CHECK(result.proved());
}

TEST_CASE("all of a batch ends in time when nobody answers",
          "[discovery][net]") {
  Net net;
  const UniqueFd mute = MuteListener();
  const Instant begin = net.loop.Now();
  const auto results = net.Dial(
      std::vector<ProbeTarget>(4 * ProbeDialer::kMaxInFlight,
                               {"127.0.0.1", BoundPort(mute.get()), "host-a"}));
  CHECK(net.loop.Now() - begin < ProbeDialer::kBatchLimit + Duration(2'000));
  CHECK(results.front().failure == "no answer after 2 s");
  CHECK(results.back().failure == "not tried within 4 s");
}

TEST_CASE("a probe's handler may end the dialer", "[discovery][net]") {
  Net net;
  const auto listener = net.Listen("host-a");
  int calls = 0;
  net.dialer->Dial(
      std::vector<ProbeTarget>(3, {"127.0.0.1", listener->port(), "host-a"}),
      [&](std::size_t, const ProbeResult&) {
        ++calls;
        net.dialer.reset();
      });
  CHECK(PumpUntil(
      net.loop, [&] { return calls > 0; }, kPatience));
  CHECK(calls == 1);
}

TEST_CASE("a stranger gets no byte out of a probe listener",
          "[discovery][net]") {
  Net net;
  const auto listener = net.Listen("host-a");
  const std::vector<std::string> strange = {
      std::string(1'000, 'x'),
      "GET / HTTP/1.1\r\nHost: there\r\n\r\n" +
          std::string(kProbeChallengeBytes, ' '),
      FormatProbeChallenge("another key", std::string(kProbeNonceBytes, 'n'))};
  for (const std::string& bytes : strange) {
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto there = ParseSocketAddress("127.0.0.1", listener->port());
    REQUIRE(::connect(fd.get(), there->get(), there->size) == 0);
    REQUIRE(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0);
    ssize_t got = -1;
    bool over = false;
    REQUIRE(PumpUntil(
        net.loop,
        [&] {
          char byte = 0;
          got = ::recv(fd.get(), &byte, 1, MSG_DONTWAIT);
          over = got == 0 || (got < 0 && errno == ECONNRESET);
          return over || got > 0;
        },
        kPatience));
    CHECK(over);
  }
}

TEST_CASE("idle strangers do not keep a probe from its answer",
          "[discovery][net]") {
  Net net;
  const auto listener = net.Listen("host-a");
  const auto there = ParseSocketAddress("127.0.0.1", listener->port());
  std::vector<UniqueFd> idle;
  for (std::size_t i = 0; i < ProbeListener::kMaxConnections + 20; ++i) {
    idle.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(idle.back().get(), there->get(), there->size) == 0);
  }
  CHECK(net.DialOne({"127.0.0.1", listener->port(), "host-a"}).proved());
}

}  // namespace hvd
