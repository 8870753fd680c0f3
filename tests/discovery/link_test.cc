// Links over real sockets: a meter and the listener of the other host, and
// those that are none.
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <catch2/catch.hpp>
#include <memory>
#include <optional>

#include "base/socket_address.h"
#include "base/unique_fd.h"
#include "discovery/link_answerer.h"
#include "discovery/link_message.h"
#include "discovery/link_meter.h"
#include "discovery/probe_listener.h"
#include "tests/discovery/pump.h"

namespace hvd {
namespace {

using testing::PumpUntil;

const std::string kKey = "the key of this job's probes";
const std::string kNonce = "0123456789abcdef";
constexpr Duration kPatience{20'000};

struct Net {
  EventLoop loop;
  std::unique_ptr<LinkMeter> meter = LinkMeter::Make(loop, kKey);
  std::unique_ptr<ProbeListener> listener = Listen(kKey);

  std::unique_ptr<ProbeListener> Listen(const std::string& key) {
    auto listening = ProbeListener::Listen(
        loop, {.key = key, .identity = "host-a", .ports = {}});
    REQUIRE(listening.ok());
    return std::move(listening).value();
  }

  LinkResult Measure(const ProbeTarget& target) {
    std::optional<LinkResult> told;
    meter->Measure(target, [&](const LinkResult& result) { told = result; });
    CHECK_FALSE(told);  // never from inside
    REQUIRE(PumpUntil(
        loop, [&] { return told.has_value(); }, kPatience));
    return *told;
  }
};

// Whoever speaks to a listener and is no meter.
class Stranger {
 public:
  explicit Stranger(Net& net) : net_(net) {
    const auto at = ParseSocketAddress("127.0.0.1", net.listener->port());
    fd_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    (void)::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    REQUIRE(::connect(fd_.get(), at->get(), at->size) == 0);
  }
  void Say(const std::string& bytes) {
    (void)::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // All that comes until there are `count` bytes, or none will.
  std::string Hear(std::size_t count) {
    std::string heard;
    PumpUntil(
        net_.loop,
        [&] {
          std::array<char, 1024> bytes{};
          const ssize_t n = ::recv(fd_.get(), bytes.data(),
                                   count - heard.size(), MSG_DONTWAIT);
          if (n > 0) heard.append(bytes.data(), static_cast<std::size_t>(n));
          const bool ended = n == 0 || (n < 0 && errno != EAGAIN);
          return ended || heard.size() == count;
        },
        kPatience);
    return heard;
  }
  // The key of the conversation that it has begun.
  std::string Begin() {
    Say(FormatLinkHello(kKey, kNonce));
    const std::string heard =
        Hear(4 + kLinkNonceBytes + 1 + std::string("host-a").size() + 32);
    const auto welcome = ParseLinkWelcome(kKey, kNonce, heard);
    REQUIRE(welcome.has_value());
    return LinkKey(kKey, kNonce, welcome->nonce);
  }

 private:
  Net& net_;
  UniqueFd fd_;
};

}  // namespace

TEST_CASE("a link is measured, over IPv4 and IPv6", "[discovery][net]") {
  Net net;
  for (const char* address : {"127.0.0.1", "::1"}) {
    INFO(address);
    const LinkResult result =
        net.Measure({address, net.listener->port(), "host-a"});
    CHECK(result.failure.empty());
    CHECK(result.least_round_trip <= result.median_round_trip);
    CHECK(result.median_round_trip < kPatience);
    CHECK(result.load_bytes > 0);
    CHECK(result.load_bytes <= LinkMeter::kLoadBytes);
    CHECK(result.load_time > std::chrono::microseconds{0});
  }
}

TEST_CASE("links are measured one after the other", "[discovery][net]") {
  Net net;
  std::vector<int> told;
  const ProbeTarget target{"127.0.0.1", net.listener->port(), "host-a"};
  for (const int link : {0, 1, 2}) {
    net.meter->Measure(target, [&, link](const LinkResult& result) {
      CHECK(result.ok());
      told.push_back(link);
    });
  }
  REQUIRE(PumpUntil(
      net.loop, [&] { return told.size() == 3; }, kPatience));
  CHECK(told == std::vector<int>{0, 1, 2});
}

TEST_CASE("a meter may be destroyed by what it tells", "[discovery][net]") {
  Net net;
  bool told = false;
  const ProbeTarget target{"127.0.0.1", net.listener->port(), "host-a"};
  net.meter->Measure(target, [&](const LinkResult&) {
    net.meter.reset();
    told = true;
  });
  net.meter->Measure(target, [](const LinkResult&) { FAIL(); });
  CHECK(PumpUntil(
      net.loop, [&] { return told; }, kPatience));
}

TEST_CASE("a link says why there is none", "[discovery][net]") {
  Net net;
  const std::uint16_t port = net.listener->port();
  CHECK(net.Measure({"127.0.0.1", port, "host-b"}).failure ==
        "another host answers there");
  CHECK(net.Measure({"localhost", port, "host-a"}).failure ==
        "not an IP address");
  const auto other = net.Listen("another job's key");
  CHECK(net.Measure({"127.0.0.1", other->port(), "host-a"}).failure ==
        "it hung up, instead of its greeting");
  net.listener.reset();
  CHECK(net.Measure({"127.0.0.1", port, "host-a"}).failure ==
        "Connection refused");
}

TEST_CASE("who repeats another's hello gets no further", "[discovery][net]") {
  Net net;
  std::string overheard;
  {
    Stranger first(net);
    overheard = FormatLinkFrame(first.Begin(), {LinkWord::kPing, 0, 0});
  }
  Stranger second(net);
  (void)second.Begin();
  second.Say(overheard);
  CHECK(second.Hear(kLinkFrameBytes).empty());
}

TEST_CASE("a link is hung up when what is said does not fit",
          "[discovery][net]") {
  Net net;
  const std::vector<LinkFrame> misfits = {{LinkWord::kPong, 0, 0},
                                          {LinkWord::kReceived, 0, 0},
                                          {LinkWord::kPing, 1, 0}};
  for (const LinkFrame& frame : misfits) {
    Stranger stranger(net);
    stranger.Say(FormatLinkFrame(stranger.Begin(), frame));
    CHECK(stranger.Hear(kLinkFrameBytes).empty());
  }
}

TEST_CASE("a load is counted where it arrives, for as long as was asked",
          "[discovery][net]") {
  Net net;
  Stranger stranger(net);
  const std::string key = stranger.Begin();
  stranger.Say(FormatLinkFrame(key, {LinkWord::kLoad, 1 << 20, 20'000}));
  stranger.Say(std::string(1000, 'x'));
  // It says no more: the time is what ends the count.
  const auto receipt = ParseLinkFrame(key, stranger.Hear(kLinkFrameBytes));
  REQUIRE(receipt.has_value());
  CHECK(receipt->word == LinkWord::kReceived);
  CHECK(receipt->first == 1000);
  CHECK(receipt->second >= 20'000);
}

TEST_CASE("nobody counts a larger load than links have", "[discovery][net]") {
  Net net;
  Stranger stranger(net);
  const std::string key = stranger.Begin();
  const auto most = ~std::uint64_t{0};
  stranger.Say(FormatLinkFrame(key, {LinkWord::kLoad, most, most}));
  const auto receipt = ParseLinkFrame(key, stranger.Hear(kLinkFrameBytes));
  REQUIRE(receipt.has_value());
  CHECK(receipt->first == 0);
  CHECK(receipt->second < 1'000'000);
}

}  // namespace hvd
