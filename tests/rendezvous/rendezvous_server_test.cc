#include "rendezvous/rendezvous_server.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "raw_peer.h"
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

const std::string kWorldBody =
    R"({"after":0,"endpoint":{"address":"127.0.0.1","port":1,)"
    R"("local_name":"","host_key":"k"}})";

// The job is as good as ever: a worker can talk and was not heard before.
void CheckUnharmed(ServedJob& job) {
  CHECK(job.ready.empty());
  CHECK(job.results.empty());
  CHECK(job.logs.empty());
  RendezvousClient client = job.Client({"a", 0});
  CHECK(job.Run([&] { return client.Log("well", In(kPatience)); }).ok());
}

}  // namespace

TEST_CASE("RendezvousServer says why it cannot listen", "[rendezvous][net]") {
  EventLoop loop;
  const auto listen = [&](const std::string& address, std::uint16_t port) {
    RendezvousOptions options;
    options.bind_address = address;
    options.ports = {port, port};
    return RendezvousServer::Listen(
        loop, options,
        {.on_ready = [](const auto&, Epoch) {},
         .on_heard = [](const auto&, Epoch, std::uint64_t) {},
         .on_blame = [](const auto&, Epoch, int) {},
         .on_log = [](const auto&, const auto&) {},
         .on_result = [](const auto&, const auto&) {},
         .on_refused = [](const auto&) {}});
  };
  const auto first = listen("127.0.0.1", 0);
  REQUIRE(first.ok());
  const std::uint16_t port = first.value()->port();
  const auto taken = listen("127.0.0.1", port);
  REQUIRE_FALSE(taken.ok());
  CHECK(taken.error().code() == ErrorCode::kUnavailable);
  CHECK(taken.error().message() ==
        "rendezvous server on 127.0.0.1: no free port in " +
            std::to_string(port));
  const auto bad = listen("localhost", 0);
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.error().code() == ErrorCode::kInvalidArgument);
  CHECK(bad.error().message() ==
        "rendezvous server: localhost: not an IP address");
}

TEST_CASE("RendezvousServer listens on IPv6 too", "[rendezvous][net]") {
  ServedJob job({}, "::1");
  RendezvousClient client({"::1", job.server->port()}, ServedJob::kKey,
                          {"a", 0});
  CHECK(job.Run([&] { return client.Log("six", In(kPatience)); }).ok());
  CHECK(job.logs.size() == 1);
}

TEST_CASE("RendezvousServer refuses an unsigned /v1 request",
          "[rendezvous][net]") {
  ServedJob job;
  for (const std::string& request : std::vector<std::string>{
           "POST /v1/world HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
           "PUT /v1/result HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
           "GET /v1/notice?epoch=0 HTTP/1.1\r\n\r\n",
           "GET /v1/nowhere HTTP/1.1\r\n\r\n", "GET /v1/ HTTP/1.1\r\n\r\n"}) {
    INFO(request);
    RawPeer peer(job);
    const auto answer = peer.Ask(request);
    REQUIRE(answer);
    CHECK(answer->status == 401);
    CHECK(answer->body == "authentication failed: the request is not signed\n");
    CHECK(peer.WaitClosed());
  }
  CHECK(job.refused ==
        std::vector<std::string>{"request from 127.0.0.1 refused: "
                                 "authentication failed: the request is not "
                                 "signed"});
  CheckUnharmed(job);
}

TEST_CASE("RendezvousServer refuses a signature before it reads the body",
          "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  peer.OpenSession();
  const std::string body(1000, 'x');
  std::string request = peer.Signed("PUT", "/v1/result", 1, body, "wrong key");
  request.resize(request.size() - body.size());
  const auto answer = peer.Ask(request);
  REQUIRE(answer);
  CHECK(answer->status == 401);
  CheckUnharmed(job);
}

TEST_CASE("RendezvousServer refuses a request replayed on its own connection",
          "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  peer.OpenSession();
  const std::string captured = peer.Signed("POST", "/v1/log", 1, "once");
  CHECK(peer.Ask(captured)->status == 200);
  const auto answer = peer.Ask(captured);
  REQUIRE(answer);
  CHECK(answer->status == 401);
  CHECK(answer->body ==
        "authentication failed: the sequence number was used before\n");
  CHECK(job.logs.size() == 1);
}

TEST_CASE("RendezvousServer refuses a request replayed on another connection",
          "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  peer.OpenSession();
  const std::string captured = peer.Signed("POST", "/v1/log", 1, "once");
  CHECK(peer.Ask(captured)->status == 200);
  RawPeer thief(job);
  CHECK(thief.Ask(captured)->body ==
        "authentication failed: no session was opened here\n");
  RawPeer patient_thief(job);
  patient_thief.OpenSession();
  CHECK(patient_thief.Ask(captured)->status == 401);
  CHECK(job.logs.size() == 1);
}

TEST_CASE("RendezvousServer refuses a body that is not the signed one",
          "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  peer.OpenSession();
  std::string request = peer.Signed("PUT", "/v1/result", 1, "mine");
  request.replace(request.size() - 4, 4, "ours");
  const auto answer = peer.Ask(request);
  REQUIRE(answer);
  CHECK(answer->status == 401);
  CHECK(answer->body ==
        "authentication failed: the body is not the signed one\n");
  CheckUnharmed(job);
}

TEST_CASE("RendezvousServer signs its answers for the request they answer",
          "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  peer.OpenSession();
  const std::string request = peer.Signed("POST", "/v1/log", 1, "x");
  const auto answer = peer.Ask(request);
  REQUIRE(answer);
  const std::size_t at = request.find("HVD-Signature: ") + 15;
  CHECK(answer->signature == SignAnswer(ServedJob::kKey, request.substr(at, 64),
                                        200, BodyDigest("")));
}

TEST_CASE("RendezvousServer answers a signed request that makes no sense",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 1));
  struct Case {
    const char* method;
    const char* target;
    std::string body;
    int status;
  };
  for (const Case& c :
       std::vector<Case>{{"GET", "/v1/nowhere", "", 404},
                         {"GET", "/v1/world", "", 405},
                         {"POST", "/v1/world", "{", 400},
                         {"POST", "/v1/world", std::string(20'000, '['), 413},
                         {"POST", "/v1/world", "\x80\x04\x95.", 400},
                         {"GET", "/v1/notice", "", 400},
                         {"GET", "/v1/notice?epoch=2", "", 409},
                         {"POST", "/v1/log", std::string(5000, 'x'), 413}}) {
    INFO(c.method << " " << c.target);
    RawPeer peer(job);
    peer.OpenSession();
    const auto answer = peer.Ask(peer.Signed(c.method, c.target, 1, c.body));
    REQUIRE(answer);
    CHECK(answer->status == c.status);
  }
  CheckUnharmed(job);
}

TEST_CASE("RendezvousServer refuses a session without a proper nonce",
          "[rendezvous][net]") {
  ServedJob job;
  for (const char* nonce :
       {"", "00", "zz", "00112233445566778899aabbccddeefg"}) {
    RawPeer peer(job);
    const auto answer =
        peer.Ask(std::string("GET /v1/session HTTP/1.1\r\nHVD-Nonce: ") +
                 nonce + "\r\n\r\n");
    REQUIRE(answer);
    CHECK(answer->status == 400);
  }
}

TEST_CASE("RendezvousServer forgets a waiting worker whose connection ends",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 2));
  {
    RawPeer dead(job);
    dead.OpenSession();
    dead.Send(dead.Signed("POST", "/v1/world", 1, kWorldBody));
    REQUIRE(job.Until([&] { return job.ready.size() == 1; }));
  }
  RendezvousClient other = job.Client({"a", 1});
  const auto world = job.Run([&] {
    return other.WaitWorld(Epoch{0}, testing::EndpointAt(2), In(300ms));
  });
  REQUIRE_FALSE(world.ok());
  CHECK(world.error().code() == ErrorCode::kTimeout);
}

TEST_CASE("RendezvousServer reports a kind of refusal once a peer",
          "[rendezvous][net]") {
  ServedJob job;
  for (int i = 0; i < 10; ++i) {
    RawPeer unsigned_peer(job);
    unsigned_peer.Ask("GET /v1/world HTTP/1.1\r\n\r\n");
    RawPeer garbage(job);
    garbage.Ask("\r\n\r\n");
  }
  CHECK(job.refused.size() == 2);
}

TEST_CASE("RendezvousServer can be destroyed while requests wait in it",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 2));
  RawPeer peer(job);
  peer.OpenSession();
  peer.Send(peer.Signed("POST", "/v1/world", 1, kWorldBody));
  REQUIRE(job.Until([&] { return job.ready.size() == 1; }));
  job.server.reset();
  CHECK(peer.WaitClosed());
}

TEST_CASE("RendezvousServer serves all its addresses as one",
          "[rendezvous][net]") {
  ServedJob job;
  const auto added = job.server->AddAddress("127.0.0.2");
  REQUIRE(added.ok());
  CHECK(added.value() == job.server->port());
  CHECK(job.server->AddAddress("127.0.0.2").value() == added.value());
  const auto six = job.server->AddAddress("::1");
  REQUIRE(six.ok());

  // Their questions meet, and no two are taken for each other's.
  job.server->Publish(WorldOf(1, 3));
  const std::pair<const char*, std::uint16_t> doors[] = {
      {"127.0.0.1", job.server->port()},
      {"127.0.0.2", added.value()},
      {"::1", six.value()}};
  std::vector<std::unique_ptr<RendezvousClient>> clients;
  std::vector<std::future<Result<Membership>>> worlds;
  int slot = 0;
  for (const auto& [address, port] : doors) {
    clients.push_back(std::make_unique<RendezvousClient>(
        RendezvousAddress{address, port}, ServedJob::kKey,
        WorkerId{"a", slot++}));
    worlds.push_back(job.Start([client = clients.back().get()] {
      return client->WaitWorld(Epoch{0}, testing::EndpointAt(1), In(kPatience));
    }));
  }
  for (auto& world : worlds) CHECK(job.Await(std::move(world)).ok());
  CHECK(job.ready.size() == 3);
}

TEST_CASE("RendezvousServer takes another port where its own is taken",
          "[rendezvous][net]") {
  ServedJob job;
  ServedJob other({}, "127.0.0.2", job.server->port());
  const auto added = job.server->AddAddress("127.0.0.2");
  REQUIRE(added.ok());
  CHECK(added.value() != job.server->port());
  CHECK(job.server->AddAddress("192.0.2.1").error().code() ==
        ErrorCode::kUnavailable);
  CHECK(job.server->AddAddress("there").error().code() ==
        ErrorCode::kInvalidArgument);
  CheckUnharmed(job);
}

}  // namespace hvd
