#include "rendezvous/hosts_door.h"

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/socket_address.h"
#include "raw_peer.h"
#include "served_job.h"

namespace hvd {
namespace {

using testing::RawAnswer;
using testing::RawPeer;
using testing::ServedJob;

const std::string kCredentials = "Bearer " + ServedJob::kToken;

std::string Request(const std::string& method, const std::string& target,
                    const std::string& credentials,
                    const std::string& body = "") {
  return method + ' ' + target + " HTTP/1.1\r\nAuthorization: " + credentials +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

// "200 body"; each on a connection of its own.
std::string Ask(ServedJob& job, const std::string& request) {
  RawPeer peer(job);
  const std::optional<RawAnswer> answer = peer.Ask(request);
  if (!answer) return "closed";
  return std::to_string(answer->status) + ' ' + answer->body;
}

// What the door says to a head from that address.
std::optional<int> StatusFor(const std::string& address,
                             const RequestHead& head) {
  EventLoop loop;
  const HttpLimits limits;
  const HttpConnection::Events events;
  const auto peer = ParseSocketAddress(address, 40'000);
  REQUIRE(peer);
  HttpConnection connection(loop.context(), UniqueFd(), peer->storage, 1,
                            limits, events);
  HostsDoor door(ServedJob::kToken, 100,
                 [](const std::string&) -> Status { return Done{}; });
  const auto refusal = door.Open(connection)->OnHead(head);
  if (!refusal) return std::nullopt;
  return refusal->status;
}

}  // namespace

TEST_CASE("whoever has the token pushes hosts, again and again",
          "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  for (const std::string list : {"localhost:2\n", "# none", ""}) {
    const auto answer =
        peer.Ask(Request("PUT", "/v1/hosts", kCredentials, list));
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->keep_alive);
    CHECK(job.pushed.back() == list);
  }
  CHECK(job.pushed.size() == 3);
  CHECK(job.refused.empty());
}

TEST_CASE("a list that is not accepted is answered with the reason",
          "[rendezvous][net]") {
  ServedJob job;
  job.push_answer = Error{ErrorCode::kInvalidArgument, "line 2: no host"};
  CHECK(Ask(job, Request("PUT", "/v1/hosts", kCredentials, "a:1\nb:\n")) ==
        "400 line 2: no host\n");
  CHECK(job.refused == std::vector<std::string>{
                           "request from 127.0.0.1 refused: line 2: no host"});
  job.push_answer = Error{ErrorCode::kUnavailable, "the job has ended"};
  CHECK(Ask(job, Request("PUT", "/v1/hosts", kCredentials, "a:1")) ==
        "503 the job has ended\n");
}

TEST_CASE("without the token no hosts are pushed", "[rendezvous][net]") {
  ServedJob job;
  std::string almost = kCredentials;
  almost.back() = 'u';
  for (const std::string& wrong :
       {std::string(), std::string("Bearer"), std::string("Bearer "), almost,
        kCredentials + 't', kCredentials.substr(0, kCredentials.size() - 1),
        ServedJob::kToken, "Basic " + ServedJob::kToken,
        "Bearer " + ServedJob::kKey}) {
    INFO(wrong);
    CHECK(Ask(job, Request("PUT", "/v1/hosts", wrong, "a:1"))
              .starts_with("401 authentication failed: "));
  }
  CHECK(job.pushed.empty());
}

TEST_CASE("the job's key pushes no hosts", "[rendezvous][net]") {
  ServedJob job;
  RawPeer worker(job);
  worker.OpenSession();
  const auto refused = worker.Ask(worker.Signed("PUT", "/v1/hosts", 1, "a:1"));
  REQUIRE(refused);
  CHECK(refused->status == 401);
  CHECK(job.pushed.empty());
}

TEST_CASE("the token opens no other door of /v1", "[rendezvous][net]") {
  ServedJob job;
  const std::string world =
      R"({"after":0,"endpoint":{"address":"127.0.0.1","port":1,)"
      R"("local_name":"","host_key":"k"}})";
  for (const std::string& request :
       {Request("POST", "/v1/world", kCredentials, world),
        Request("GET", "/v1/notice?epoch=1", kCredentials),
        Request("POST", "/v1/log", kCredentials, "text"),
        Request("PUT", "/v1/result", kCredentials, "bytes"),
        Request("PUT", "/v1/hosts/", kCredentials, "a:1"),
        Request("PUT", "/v1/hosts?x", kCredentials, "a:1"),
        Request("PUT", "/v1/HOSTS", kCredentials, "a:1")}) {
    INFO(request);
    CHECK(Ask(job, request) ==
          "401 authentication failed: the request is not signed\n");
  }
  // Nor is it a key to sign with.
  RawPeer peer(job);
  peer.OpenSession();
  const auto refused =
      peer.Ask(peer.Signed("POST", "/v1/log", 1, "text", ServedJob::kToken));
  REQUIRE(refused);
  CHECK(refused->status == 401);
  CHECK(job.ready.empty());
  CHECK(job.logs.empty());
  CHECK(job.results.empty());
  CHECK(job.pushed.empty());
}

TEST_CASE("workers are served on a connection that has pushed hosts",
          "[rendezvous][net]") {
  ServedJob job;
  RawPeer peer(job);
  peer.OpenSession();
  REQUIRE(peer.Ask(Request("PUT", "/v1/hosts", kCredentials, "a:1")));
  const auto answer = peer.Ask(peer.Signed("POST", "/v1/log", 1, "well"));
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK_FALSE(answer->signature.empty());
  CHECK(job.logs.size() == 1);
  CHECK(job.pushed.size() == 1);
}

TEST_CASE("hosts are pushed with PUT and a length", "[rendezvous][net]") {
  ServedJob job;
  for (const char* method : {"GET", "POST", "DELETE", "PATCH"}) {
    INFO(method);
    CHECK(Ask(job, Request(method, "/v1/hosts", kCredentials, "a:1")) ==
          "405 hosts are pushed with PUT\n");
  }
  const std::string head =
      "PUT /v1/hosts HTTP/1.1\r\nAuthorization: " + kCredentials + "\r\n";
  CHECK(Ask(job, head + "\r\n").starts_with("411 "));
  CHECK(Ask(job, head + "Transfer-Encoding: chunked\r\n\r\n3\r\na:1\r\n0\r\n"
                        "\r\n")
            .starts_with("411 "));
  CHECK(job.pushed.empty());
}

TEST_CASE("the token counts on this host's loopback only",
          "[rendezvous][net]") {
  RequestHead head;
  head.method = HttpMethod::kPut;
  head.content_length = 3;
  head.authorization = kCredentials;
  CHECK_FALSE(StatusFor("127.0.0.1", head));
  CHECK_FALSE(StatusFor("::1", head));
  for (const char* other : {"192.0.2.1", "10.0.0.1", "2001:db8::1"}) {
    INFO(other);
    CHECK(StatusFor(other, head) == 403);
  }
}

TEST_CASE("without a token of its own a server has no door for hosts",
          "[rendezvous][net]") {
  EventLoop loop;
  RendezvousOptions options;
  options.job_key = ServedJob::kKey;
  std::vector<std::string> refused;
  auto server = RendezvousServer::Listen(
      loop, options,
      {.on_ready = [](const auto&, Epoch) {},
       .on_heard = [](const auto&, Epoch, std::uint64_t) {},
       .on_blame = [](const auto&, Epoch, int) {},
       .on_log = [](const auto&, const auto&) {},
       .on_result = [](const auto&, const auto&) {},
       .on_refused = [&](const auto& line) { refused.push_back(line); }});
  REQUIRE(server.ok());
  const UniqueFd peer = testing::ConnectTo(server.value()->port());
  const std::string request = Request("PUT", "/v1/hosts", "Bearer ", "a:1");
  REQUIRE(::send(peer.get(), request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size()));
  CHECK(loop.RunUntil([&] { return !refused.empty(); }, testing::kPatience));
  CHECK(refused == std::vector<std::string>{
                       "request from 127.0.0.1 refused: authentication "
                       "failed: the request is not signed"});
}

}  // namespace hvd
