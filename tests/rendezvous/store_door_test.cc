#include "rendezvous/store_door.h"

#include <sys/fsuid.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "raw_peer.h"
#include "rendezvous/blocking_http.h"
#include "served_job.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

using testing::In;
using testing::kPatience;
using testing::RawAnswer;
using testing::RawPeer;
using testing::ServedJob;
using testing::WorldOf;

std::string Get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
}
std::string Put(const std::string& path, const std::string& value) {
  return "PUT " + path +
         " HTTP/1.1\r\nContent-Length: " + std::to_string(value.size()) +
         "\r\n\r\n" + value;
}
std::string Delete(const std::string& path) {
  return "DELETE " + path + " HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
}

// "200 body", the whole of what a client sees.
std::string Ask(RawPeer& peer, const std::string& request) {
  const std::optional<RawAnswer> answer = peer.Ask(request);
  if (!answer) return "closed";
  return std::to_string(answer->status) + " " + answer->body;
}

}  // namespace

TEST_CASE("a store path has a scope and a key, taken as they are",
          "[rendezvous][net]") {
  CHECK(ParseStorePath("/s/k") == StorePath{"s", "k"});
  CHECK(ParseStorePath("/s/k?a=%2F&b") == StorePath{"s", "k?a=%2F&b"});
  CHECK(ParseStorePath("/a/h:0") == StorePath{"a", "h:0"});
  for (const char* bad : {"", "/", "s/k", "/s", "/s/", "//k", "/s/k/x",
                          "/../../etc/passwd", "http://h/s/k", "*"}) {
    INFO(bad);
    CHECK_FALSE(ParseStorePath(bad));
  }
}

TEST_CASE("the store answers Horovod's requests as Horovod's server does",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 2));
  RawPeer peer(job);
  CHECK(Ask(peer, Get("/global/rank_0")) == "404 ");
  CHECK(Ask(peer, Put("/global/rank_0", "vm")) == "200 ");
  CHECK(Ask(peer, Get("/global/rank_0")) == "200 vm");
  CHECK(Ask(peer, Put("/global/rank_0", "")) == "200 ");
  CHECK(Ask(peer, Get("/global/rank_0")) == "200 ");
  CHECK(Ask(peer, Delete("/never/was")) == "200 ");
  CHECK(Ask(peer, Delete("/global/0")) == "200 ");
  CHECK(Ask(peer, Get("/global/rank_0")) == "200 ");
  CHECK(Ask(peer, Delete("/global/1")) == "200 ");
  CHECK(Ask(peer, Get("/global/rank_0")) == "404 ");
  CHECK(Ask(peer, Get("/single")) == "400 ");
  CHECK(Ask(peer, Get("/../../etc/passwd")) == "400 ");
  CHECK(Ask(peer, "POST /a/b HTTP/1.1\r\nContent-Length: 0\r\n\r\n") == "405 ");
  CHECK(job.refused.empty());
}

TEST_CASE("a missing key is answered with exactly these bytes",
          "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  peer.Send(
      "GET /a/b HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  CHECK(peer.ReadToEnd() ==
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
        "Connection: close\r\n\r\n");
}

TEST_CASE("values are bytes, whatever they look like", "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  std::string value;
  for (int i = 0; i < 256 * 40; ++i) value += static_cast<char>(i);
  CHECK(Ask(peer, Put("/a/b", value)) == "200 ");
  CHECK((Ask(peer, Get("/a/b")) == "200 " + value));
}

TEST_CASE("a pickle that Horovod's server would run is stored as it is",
          "[rendezvous][net]") {
  // CVE-2024-10190: PUT of a base64 or raw pickle to these scopes.
  ServedJob job;
  job.server->Publish(WorldOf(1, 1));
  const std::string pickle =
      "\x80\x04\x95"
      "cposix\nsystem\n(S'touch /tmp/hvd-pickle-ran'\ntR.";
  for (const char* path :
       {"/worker_addresses/localhost:0", "/rank_and_size/localhost:0",
        "/runfunc/func", "/runfunc_result/0", "/addresses/0"}) {
    INFO(path);
    RawPeer peer(job);
    CHECK(Ask(peer, Put(path, pickle)) == "200 ");
    CHECK((Ask(peer, Get(path)) == "200 " + pickle));
  }
  CHECK(::access("/tmp/hvd-pickle-ran", F_OK) != 0);
  CHECK(job.ready.empty());
  CHECK(job.results.empty());
}

TEST_CASE("a new world empties the store", "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  CHECK(Ask(peer, Put("/ad-hoc/rank_0", "stale")) == "200 ");
  job.server->Publish(WorldOf(1, 1));
  CHECK(Ask(peer, Get("/ad-hoc/rank_0")) == "404 ");
}

TEST_CASE("a value that spans many packets arrives whole",
          "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  std::string value(std::size_t{3} << 20U, 'x');
  for (std::size_t i = 0; i < value.size(); i += 997) value[i] = 'y';
  CHECK(Ask(peer, Put("/a/b", value)) == "200 ");
  CHECK((Ask(peer, Get("/a/b")) == "200 " + value));
}

TEST_CASE("a request may arrive byte by byte", "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  for (const char c : Put("/a/b", "value") + Get("/a/b")) {
    peer.Send({&c, 1});
    peer.Pump(0ms);
  }
  CHECK(Ask(peer, "") == "200 ");
  CHECK(Ask(peer, "") == "200 value");
}

TEST_CASE("pipelined requests are answered in order", "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  std::string requests;
  for (int i = 0; i < 500; ++i) {
    requests += Put("/a/b", std::to_string(i)) + Get("/a/b");
  }
  peer.Send(requests);
  for (int i = 0; i < 500; ++i) {
    REQUIRE(Ask(peer, "") == "200 ");
    REQUIRE(Ask(peer, "") == "200 " + std::to_string(i));
  }
}

TEST_CASE("a body that is not announced, or not by its length, is refused",
          "[rendezvous][net]") {
  ServedJob job;
  for (const char* request :
       {"PUT /a/b HTTP/1.1\r\n\r\n",
        "PUT /a/b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
    INFO(request);
    RawPeer peer(job);
    const auto answer = peer.Ask(request);
    REQUIRE(answer);
    CHECK(answer->status == 411);
    CHECK(peer.WaitClosed());
  }
}

TEST_CASE("a client that waits for 100-continue is told to go on",
          "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  CHECK(Ask(peer,
            "PUT /a/b HTTP/1.1\r\nExpect: 100-continue\r\n"
            "Content-Length: 2\r\n\r\n") == "100 ");
  CHECK(Ask(peer, "vm") == "200 ");
  CHECK(Ask(peer, Get("/a/b")) == "200 vm");
}

TEST_CASE("the store is full before memory is", "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  const std::string value(kMaxValueBytes, 'x');
  int stored = 0;
  while (stored < 100 &&
         Ask(peer, Put("/a/" + std::to_string(stored), value)) == "200 ") {
    ++stored;
  }
  CHECK(stored == kMaxStoreBytes / kMaxValueBytes - 1);
  CHECK(Ask(peer, Put("/a/99", value)) == "507 ");
  CHECK(Ask(peer, Delete("/a/0")) == "200 ");
  CHECK(Ask(peer, Put("/a/99", value)) == "200 ");
}

TEST_CASE("another user's socket is refused, and reported once",
          "[rendezvous][net]") {
  if (::geteuid() != 0) {
    WARN("only root can make a socket for another user");
    return;
  }
  ServedJob job;
  const auto ask_as_nobody = [&] {
    return job.Run([port = job.server->port()] {
      ::setfsuid(65534);  // of this thread, which ends here
      BlockingHttp http(-1);
      const Status connected = http.Connect("127.0.0.1", port, In(kPatience));
      if (!connected.ok()) return std::string("not connected");
      const auto answer =
          http.Ask(Put("/global/rank_0", "x"), "", In(kPatience));
      return answer.ok() ? std::to_string(answer.value().status) + " " +
                               answer.value().body
                         : answer.error().message();
    });
  };
  const std::string refusal =
      "authentication: unsigned requests are served to this job's user only, "
      "not to uid 65534";
  CHECK(ask_as_nobody() == "403 " + refusal + "\n");
  CHECK(ask_as_nobody() == "403 " + refusal + "\n");
  CHECK(job.refused ==
        std::vector<std::string>{"request from 127.0.0.1 refused: " + refusal});
  RawPeer mine(job);
  CHECK(Ask(mine, Get("/global/rank_0")) == "404 ");
}

// 128 workers that each PUT and GET 50 times, a connection per request as
// Horovod's client makes them (Horovod #2746, #2419).
TEST_CASE("128 clients with 50 PUTs and GETs each are all served",
          "[rendezvous][net]") {
  constexpr int kClients = 128;
  constexpr int kRounds = 50;
  constexpr int kThreads = 16;  // each drives clients in turn
  ServedJob job;
  const std::uint16_t port = job.server->port();
  std::atomic<int> wrong = 0;
  std::atomic<int> finished = 0;
  const auto ask = [&](const std::string& request) {
    BlockingHttp http(-1);
    if (!http.Connect("127.0.0.1", port, In(kPatience)).ok()) {
      return std::string("not connected");
    }
    const auto answer = http.Ask(request, "", In(kPatience));
    if (!answer.ok()) return answer.error().message();
    return std::to_string(answer.value().status) + " " + answer.value().body;
  };
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        for (int client = t; client < kClients; client += kThreads) {
          const std::string key = "/global/" + std::to_string(client);
          const std::string value = std::to_string(client * 1000 + i);
          if (ask(Put(key, value)) != "200 ") ++wrong;
          if (ask(Get(key)) != "200 " + value) ++wrong;
        }
      }
      ++finished;
      job.loop.Post([] {});
    });
  }
  CHECK(job.Until([&] { return finished == kThreads; }));
  CHECK(wrong == 0);
}

}  // namespace hvd
