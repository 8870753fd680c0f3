// The store and the questions of elastic Horovod workers, over the wire and in
// the shapes in which Horovod's two clients ask.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/hmac_sha256.h"
#include "loopback_listener.h"
#include "raw_peer.h"
#include "rendezvous/store_door.h"
#include "served_job.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

using testing::RawAnswer;
using testing::RawPeer;
using testing::ServedJob;
using testing::WorldOf;
using Ready = std::vector<std::pair<WorkerId, Epoch>>;

// Horovod's C++ client: everything in one segment, a connection a request.
std::string Request(const std::string& method, const std::string& path,
                    const std::string& body = "") {
  return method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string AnswerOf(const std::optional<RawAnswer>& answer) {
  if (!answer) return "closed";
  return std::to_string(answer->status) + " " + answer->body;
}

std::string Ask(ServedJob& job, const std::string& request) {
  RawPeer peer(job);
  return AnswerOf(peer.Ask(request));
}

// What a worker whose notification service listens on this port sends, its key
// 32 times 'k'. Spelled as Python does.
std::string AddressesBody(std::uint16_t port) {
  std::string pickle("\x80\x05\x95\x42\0\0\0\0\0\0\0}\x94\x8c\x02lo\x94]\x94",
                     20);
  pickle +=
      "\x8c\x09"
      "127.0.0.1\x94M";
  pickle += static_cast<char>(port & 0xFFU);
  pickle += static_cast<char>(port >> 8U);
  pickle +=
      "\x86\x94"
      "asC\x20" +
      std::string(32, 'k') + "\x94\x86\x94.";
  constexpr const char* kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  unsigned held = 0;
  unsigned bits = 0;
  for (const char c : pickle) {
    held = held << 8U | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6) {
      text += kAlphabet[held >> (bits - 6) & 63U];
    }
  }
  if (bits > 0) text += kAlphabet[held << (6 - bits) & 63U];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

struct ElasticJob : ServedJob {
  ElasticJob() : ServedJob({}, "127.0.0.1", 0, true) {}

  // A job of `count` workers on host a, in training.
  void Begin(int count) {
    const World world = WorldOf(1, count);
    server->Publish(world);
    server->Started({world.workers, world});
  }
};

}  // namespace

TEST_CASE("a rank's address is waited for until it is put",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 2));
  RawPeer waiting(job);
  waiting.Send(Request("GET", "/global/1"));
  RawPeer other_scope(job);
  other_scope.Send(Request("GET", "/local_a/1"));
  CHECK_FALSE(waiting.WaitClosed(50ms));
  const std::string address(136, '\0');
  CHECK(Ask(job, Request("PUT", "/global/1", address)) == "200 ");
  CHECK((AnswerOf(waiting.Read()) == "200 " + address));
  CHECK(Ask(job, Request("PUT", "/local_a/1")) == "200 ");
  CHECK(AnswerOf(other_scope.Read()) == "200 ");
}

TEST_CASE("the name of a rank's machine is not waited for",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 2));
  CHECK(Ask(job, Request("GET", "/global/rank_1")) == "404 ");
}

TEST_CASE("who waits for an address of an old world is told that it is gone",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 2));
  RawPeer waiting(job);
  waiting.Send(Request("GET", "/global/1"));
  waiting.Pump(20ms);
  job.server->Publish(WorldOf(2, 2));
  CHECK(AnswerOf(waiting.Read()) == "404 ");
}

TEST_CASE("64 clients that wait for one address are all served",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 65));
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 64; ++i) {
    peers.push_back(std::make_unique<RawPeer>(job));
    peers.back()->Send(Request("GET", "/global/64"));
  }
  // Some leave before there is anything.
  for (int i = 0; i < 64; i += 9) peers[static_cast<std::size_t>(i)].reset();
  peers[1]->Pump(20ms);
  CHECK(Ask(job, Request("PUT", "/global/64", "here")) == "200 ");
  for (const auto& peer : peers) {
    if (peer) CHECK(AnswerOf(peer->Read()) == "200 here");
  }
}

TEST_CASE("survivors ask for their places and get them together",
          "[rendezvous][net]") {
  ElasticJob job;
  job.Begin(3);
  CHECK(Ask(job, Request("PUT", "/global_process_set_hash_1/0", "old")) ==
        "200 ");
  RawPeer first(job);
  first.Send(Request("GET", "/rank_and_size/a:2"));
  CHECK_FALSE(first.WaitClosed(50ms));
  job.server->Ended({"a", 1});
  job.server->Publish({Epoch{2}, {{"a", 0}, {"a", 2}}});
  RawPeer second(job);
  CHECK(AnswerOf(second.Ask(Request("GET", "/rank_and_size/a:0"))) ==
        "200 0,2,0,2,0,1");
  CHECK(AnswerOf(first.Read()) == "200 1,2,1,2,0,1");
  // What belonged to the old world is gone.
  CHECK(Ask(job, Request("GET", "/global_process_set_hash_1/rank_0")) ==
        "404 ");
  CHECK(job.Until([&] { return job.ready.size() >= 5; }));
  CHECK(job.ready.back() == std::pair(WorkerId{"a", 0}, Epoch{1}));
}

TEST_CASE("a newcomer's first word is kept until its world is there",
          "[rendezvous][net]") {
  ElasticJob job;
  job.Begin(1);
  CHECK(Ask(job, Request("PUT", "/worker_addresses/a:0", AddressesBody(9))) ==
        "200 ");
  const World planned = WorldOf(0, 2);
  job.server->Started({{{"a", 1}}, planned});
  RawPeer newcomer(job);
  newcomer.Send(Request("PUT", "/global/rank_1", "vm"));
  CHECK(job.Until([&] { return job.ready.size() == 2; }));
  CHECK(job.ready == Ready{{{"a", 0}, Epoch{}}, {{"a", 1}, Epoch{}}});
  job.server->Publish(WorldOf(2, 2));
  CHECK_FALSE(newcomer.WaitClosed(50ms));
  CHECK(Ask(job, Request("GET", "/rank_and_size/a:0")) == "200 0,2,0,2,0,1");
  CHECK(AnswerOf(newcomer.Read()) == "200 ");
  CHECK(Ask(job, Request("GET", "/global/rank_1")) == "200 vm");
}

TEST_CASE("a newcomer for a world that will not be is reported",
          "[rendezvous][net]") {
  ElasticJob job;
  job.Begin(2);
  Ask(job, Request("PUT", "/worker_addresses/a:0", AddressesBody(9)));
  job.server->Started({{{"b", 0}}, {Epoch{}, {{"a", 0}, {"a", 1}, {"b", 0}}}});
  job.server->Ended({"a", 1});
  job.server->Publish(WorldOf(2, 1));
  CHECK(job.Until([&] { return !job.misplaced.empty(); }));
  CHECK(job.misplaced == std::vector<WorkerId>{{"b", 0}});
}

TEST_CASE("rank 0 is called with a signed notice when there is a new world",
          "[rendezvous][net]") {
  ElasticJob job;
  const UniqueFd worker = testing::ListenOnLoopback();
  // Not in a blocking accept: the server's loop runs on this thread.
  REQUIRE(::fcntl(worker.get(), F_SETFL, O_NONBLOCK) == 0);
  job.Begin(2);
  // Horovod's Python client: head and body in two segments.
  const std::string body = AddressesBody(testing::PortOf(worker.get()));
  RawPeer python(job);
  python.Send(
      "PUT /worker_addresses/a:0 HTTP/1.1\r\nAccept-Encoding: identity\r\n"
      "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: " +
      std::to_string(body.size()) +
      "\r\nHost: 127.0.0.1\r\nUser-Agent: Python-urllib/3.11\r\n"
      "Connection: close\r\n\r\n");
  python.Pump(10ms);
  CHECK(AnswerOf(python.Ask(body)) == "200 ");
  job.server->Publish(WorldOf(2, 1));
  std::string last;
  for (int call = 0; call < 2; ++call) {  // again, as it does not come
    UniqueFd accepted;
    CHECK(job.Until([&] {
      accepted = UniqueFd(::accept4(worker.get(), nullptr, nullptr,
                                    SOCK_CLOEXEC | SOCK_NONBLOCK));
      return accepted.valid();
    }));
    std::string frame;
    CHECK(job.Until([&] {
      std::array<char, 512> chunk{};
      const ssize_t n = ::recv(accepted.get(), chunk.data(), chunk.size(), 0);
      if (n > 0) frame.append(chunk.data(), static_cast<std::size_t>(n));
      return frame.size() > 36 && frame.ends_with("ub.");
    }));
    CHECK(frame.substr(0, 32) ==
          HmacSha256(std::string(32, 'k'), frame.substr(36)));
    CHECK(frame != last);
    last = frame;
  }
}

// CVE-2024-10190 and its sibling: whoever reached Horovod's server could have
// it run a pickle, or confuse the job by speaking for a worker.
TEST_CASE("what Horovod's server would run or believe does nothing",
          "[rendezvous][net]") {
  ElasticJob job;
  job.Begin(2);
  const std::string mark = "/tmp/hvd-pickle-ran-" + std::to_string(::getpid());
  const std::string raw = "cposix\nsystem\n(S'touch " + mark + "'\ntR.";
  // base64 of "cos\nsystem\n(S'touch /tmp/x'\ntR."
  const std::string encoded = "Y29zCnN5c3RlbQooUyd0b3VjaCAvdG1wL3gnCnRSLg==";
  for (const std::string& body :
       {raw, encoded, std::string(), std::string(1, '=')}) {
    CHECK(Ask(job, Request("PUT", "/worker_addresses/a:0", body)) ==
          "400 not a worker's addresses");
    CHECK(Ask(job, Request("PUT", "/rank_and_size/a:0", body)) == "405 ");
    CHECK(Ask(job, Request("PUT", "/runfunc/func", body)) == "200 ");
    CHECK(Ask(job, Request("GET", "/worker_addresses/a:0")) == "404 ");
  }
  // Who is no worker is told that it is not wanted, and nobody hears of it.
  CHECK(Ask(job, Request("GET", "/rank_and_size/z:0")) ==
        "200 -1,-1,-1,-1,-1,-1");
  CHECK(Ask(job, Request("PUT", "/worker_addresses/z:0", AddressesBody(9))) ==
        "200 ");
  job.loop.RunUntil([] { return false; }, 20ms);
  CHECK(job.ready.empty());
  CHECK(job.misplaced.empty());
  CHECK(::access(mark.c_str(), F_OK) != 0);
}

}  // namespace hvd
