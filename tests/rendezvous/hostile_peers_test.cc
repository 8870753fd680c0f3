// What RendezvousServer does with peers that are slow, greedy or talk nonsense.
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "raw_peer.h"
#include "served_job.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

using testing::In;
using testing::kPatience;
using testing::RawPeer;
using testing::ServedJob;

// The job is as good as ever: a worker can talk and was not heard before.
void CheckUnharmed(ServedJob& job) {
  CHECK(job.ready.empty());
  CHECK(job.results.empty());
  CHECK(job.logs.empty());
  CHECK(job.pushed.empty());
  RendezvousClient client = job.Client({"a", 0});
  CHECK(job.Run([&] { return client.Log("well", In(kPatience)); }).ok());
}

// Resident set in KiB.
long ResidentKib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("RendezvousServer refuses a megabyte of garbage",
          "[rendezvous][net]") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  ServedJob job;
  std::string garbage(std::size_t{1} << 20U, '\0');
  for (char& c : garbage) c = static_cast<char>(random());
  RawPeer peer(job);
  peer.Send(garbage);
  CHECK(peer.WaitClosed());
  REQUIRE(job.refused.size() == 1);
  CheckUnharmed(job);
}

TEST_CASE("RendezvousServer refuses a head over 8 KiB", "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  std::string head = "GET /a/b HTTP/1.1\r\n";
  while (head.size() < 9000) head += "X-Filler: 0123456789\r\n";
  const auto answer = peer.Ask(head + "\r\n");
  REQUIRE(answer);
  CHECK(answer->status == 431);
  CHECK(peer.WaitClosed());
}

TEST_CASE("RendezvousServer refuses a gigabyte before it takes any of it",
          "[rendezvous][net]") {
  ServedJob job;
  const long before = ResidentKib();
  for (const char* path : {"/global/0", "/v1/result", "/v1/hosts"}) {
    INFO(path);
    RawPeer peer(job);
    const auto answer =
        peer.Ask(std::string("PUT ") + path +
                 " HTTP/1.1\r\nContent-Length: 1073741824\r\n\r\nstart");
    REQUIRE(answer);
    CHECK((answer->status == 413 || answer->status == 401));
    CHECK(peer.WaitClosed());
  }
  CHECK(ResidentKib() - before < 64 * 1024);
  CheckUnharmed(job);
}

TEST_CASE(
    "RendezvousServer gives no memory for a length that is only announced",
    "[rendezvous][net]") {
  ServedJob job;
  const long before = ResidentKib();
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 50; ++i) {
    peers.push_back(std::make_unique<RawPeer>(job));
    peers.back()->Send(
        "PUT /global/0 HTTP/1.1\r\nContent-Length: 16777216\r\n\r\nx");
    peers.back()->Pump(1ms);
  }
  CHECK(ResidentKib() - before < 64 * 1024);
}

TEST_CASE(
    "RendezvousServer takes no list of hosts over its limit, nor half of one",
    "[rendezvous][net]") {
  ServedJob job({.body = 100ms});
  const auto head = [](std::size_t length) {
    return "PUT /v1/hosts HTTP/1.1\r\nAuthorization: Bearer " +
           ServedJob::kToken + "\r\nContent-Length: " + std::to_string(length) +
           "\r\n\r\n";
  };
  RawPeer greedy(job);
  const auto refused = greedy.Ask(head(ServedJob::kMaxPush + 1) + "a:1\n");
  REQUIRE(refused);
  CHECK(refused->status == 413);
  CHECK(greedy.WaitClosed());
  RawPeer slow(job);
  const auto late = slow.Ask(head(ServedJob::kMaxPush) + "a:1\n");
  REQUIRE(late);
  CHECK(late->status == 408);
  CHECK(slow.WaitClosed());
  RawPeer gone(job);
  gone.Send(head(8) + "a:1\n");
  ::shutdown(gone.fd(), SHUT_WR);
  CHECK(gone.WaitClosed());
  CheckUnharmed(job);
}

TEST_CASE("RendezvousServer serves others beside 200 idle connections",
          "[rendezvous][net]") {
  ServedJob job;
  std::vector<std::unique_ptr<RawPeer>> idle;
  for (int i = 0; i < 200; ++i) idle.push_back(std::make_unique<RawPeer>(job));
  const Instant start = job.loop.Now();
  CheckUnharmed(job);
  CHECK(job.loop.Now() - start < 2s);
}

TEST_CASE("RendezvousServer drops who connects and says nothing",
          "[rendezvous][net]") {
  ServedJob job({.head = 100ms});
  RawPeer peer(job);
  CHECK(peer.WaitClosed());
  CHECK(job.refused ==
        std::vector<std::string>{"request from 127.0.0.1 refused: "
                                 "no request came after connecting"});
}

TEST_CASE("RendezvousServer drops a head that drips in", "[rendezvous][net]") {
  ServedJob job({.head = 300ms});
  RawPeer peer(job);
  // Each byte comes long before the limit; the whole never does.
  const std::string head =
      "GET /global/0 HTTP/1.1\r\n" + std::string(4000, 'X');
  std::size_t sent = 0;
  const Instant start = job.loop.Now();
  while (sent < head.size() && peer.Send(head.substr(sent, 1)) &&
         !peer.WaitClosed(20ms)) {
    ++sent;
  }
  CHECK(sent > 5);
  CHECK(sent < head.size());
  CHECK(job.loop.Now() - start >= 300ms);
  CHECK(job.refused ==
        std::vector<std::string>{"request from 127.0.0.1 refused: "
                                 "request head came too slowly"});
}

TEST_CASE("RendezvousServer answers 408 to a body that does not come",
          "[rendezvous][net]") {
  ServedJob job({.body = 100ms});
  RawPeer peer(job);
  const auto answer =
      peer.Ask("PUT /global/0 HTTP/1.1\r\nContent-Length: 10\r\n\r\nshort");
  REQUIRE(answer);
  CHECK(answer->status == 408);
  CHECK(peer.WaitClosed());
}

TEST_CASE("RendezvousServer closes a connection that idles between requests",
          "[rendezvous][net]") {
  ServedJob job({.idle = 100ms});
  RawPeer peer(job);
  const auto answer = peer.Ask("GET /a/b HTTP/1.1\r\n\r\n");
  REQUIRE(answer);
  CHECK(answer->keep_alive);
  CHECK(peer.WaitClosed());
  CHECK(job.refused.empty());  // that is no fault
}

TEST_CASE("RendezvousServer drops who does not read its answers",
          "[rendezvous][net]") {
  ServedJob job({.write = 100ms});
  RawPeer peer(job);
  const std::string value(std::size_t{8} << 20U, 'x');
  REQUIRE(peer.Ask("PUT /a/b HTTP/1.1\r\nContent-Length: " +
                   std::to_string(value.size()) + "\r\n\r\n" + value)
              ->status == 200);
  const long before = ResidentKib();
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += "GET /a/b HTTP/1.1\r\n\r\n";
  peer.Send(requests);
  peer.Pump(500ms);
  // One answer is held for it, not a hundred.
  CHECK(ResidentKib() - before < 128 * 1024);
  // 100 ms and a second per MiB of the answer later it is gone.
  CHECK(job.Until([&] {
    char byte = 0;
    return ::send(peer.fd(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
           errno != EAGAIN;
  }));
}

TEST_CASE("RendezvousServer holds its connections to half the descriptors",
          "[rendezvous][net]") {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  rlimit low = limit;
  low.rlim_cur = 64;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  ServedJob job;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 32; ++i) {
    peers.push_back(std::make_unique<RawPeer>(job));
    REQUIRE(peers.back()->Ask("GET /a/b HTTP/1.1\r\n\r\n"));
  }
  RawPeer late(job);
  late.Send("GET /a/b HTTP/1.1\r\n\r\n");
  CHECK_FALSE(late.WaitClosed(100ms));
  peers.pop_back();
  const auto answer = late.Read();
  REQUIRE(answer);
  CHECK(answer->status == 404);
}

}  // namespace hvd
