#include "launcher/store_tunnel.h"

#include <sys/fsuid.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/random_bytes.h"
#include "rendezvous/rendezvous_server.h"
#include "tests/support/raw_connection.h"

using namespace std::chrono_literals;

namespace hvd::testing {
namespace {

// A store with its exit, and the entrance of an agent; all on one loop, which
// runs on a thread of its own.
class TunnelledStore {
 public:
  TunnelledStore() {
    Result<std::unique_ptr<RendezvousServer>> server = RendezvousServer::Listen(
        loop_, {.job_key = RandomBytes(32), .limits = {}},
        {.on_ready = [](const WorkerId&, Epoch) {},
         .on_heard = [](const WorkerId&, Epoch, std::uint64_t) {},
         .on_blame = [](const WorkerId&, Epoch, int) {},
         .on_log = [](const WorkerId&, const std::string&) {},
         .on_result = [](const WorkerId&, const std::string&) {},
         .on_refused = [](const std::string&) {}});
    REQUIRE(server.ok());
    server_ = std::move(server).value();
    exit_.emplace(
        loop_, server_->port(),
        [this](TunnelPiece piece) {
          loop_.Post([this, piece] { entrance_->OnPiece(piece); });
        },
        [this](TunnelTaken taken) {
          loop_.Post([this, taken] { entrance_->OnTaken(taken); });
        });
    Result<std::unique_ptr<StoreEntrance>> entrance = StoreEntrance::Open(
        loop_, {},
        {.send =
             [this](TunnelPiece piece) {
               loop_.Post([this, piece] { exit_->OnPiece(piece); });
             },
         .taken =
             [this](TunnelTaken taken) {
               loop_.Post([this, taken] { exit_->OnTaken(taken); });
             },
         .refused = [this](const std::string&) { ++refused_; }});
    REQUIRE(entrance.ok());
    entrance_ = std::move(entrance).value();
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~TunnelledStore() {
    loop_.Stop();
    thread_.join();
  }

  std::uint16_t port() const { return entrance_->port(); }
  int refused() const { return refused_; }

 private:
  EventLoop loop_;
  std::unique_ptr<RendezvousServer> server_;
  std::optional<StoreExit> exit_;
  std::unique_ptr<StoreEntrance> entrance_;
  std::atomic<int> refused_ = 0;
  std::thread thread_;
};

std::string Put(const std::string& path, const std::string& value) {
  return "PUT " + path + " HTTP/1.1\r\nHost: h\r\nContent-Length: " +
         std::to_string(value.size()) + "\r\n\r\n" + value;
}

std::string Get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
}

}  // namespace

TEST_CASE("a request at an agent's loopback is answered by hvdrun's store",
          "[agent]") {
  TunnelledStore store;
  const RawConnection one(store.port());
  REQUIRE(one.Send(Put("/global/rank_0", "here")));
  CHECK(one.ReceiveHead(5s).starts_with("HTTP/1.1 200"));
  // Kept alive: the same connection asks again.
  REQUIRE(one.Send(Get("/global/rank_0")));
  CHECK(one.ReceiveAll(5s).ends_with("\r\n\r\nhere"));
}

TEST_CASE("a large value passes the tunnel whole, both ways", "[agent]") {
  TunnelledStore store;
  std::string value(std::size_t{15} << 20U, 'x');
  for (std::size_t i = 0; i < value.size(); i += 997) value[i] = 'y';
  const RawConnection one(store.port());
  REQUIRE(one.Send(Put("/a/b", value)));
  CHECK(one.ReceiveHead(5s).starts_with("HTTP/1.1 200"));
  const RawConnection other(store.port());
  REQUIRE(other.Send(Get("/a/b")));
  const std::string answer = other.ReceiveAll(10s);
  CHECK((answer.substr(answer.find("\r\n\r\n") + 4) == value));
}

TEST_CASE("who came first may speak last", "[agent]") {
  TunnelledStore store;
  const RawConnection first(store.port());
  const RawConnection second(store.port());
  REQUIRE(second.Send(Get("/a/b")));
  CHECK(second.ReceiveAll(5s).starts_with("HTTP/1.1 404"));
  REQUIRE(first.Send(Get("/a/b")));
  CHECK(first.ReceiveAll(5s).starts_with("HTTP/1.1 404"));
}

TEST_CASE("rubbish in the tunnel is the store's to refuse", "[agent]") {
  TunnelledStore store;
  const RawConnection rubbish(store.port());
  REQUIRE(rubbish.Send("\x16\x03\x01\x02 what?\r\n\r\n"));
  CHECK(rubbish.ReceiveAll(5s).starts_with("HTTP/1.1 400"));
  const RawConnection after(store.port());
  REQUIRE(after.Send(Get("/no/thing")));
  CHECK(after.ReceiveAll(5s).starts_with("HTTP/1.1 404"));
}

TEST_CASE("another user of that host is sent away at the entrance", "[agent]") {
  TunnelledStore store;
  std::string answer;
  bool asked = false;
  std::thread([&] {
    ::setfsuid(65534);  // of this thread, which ends here
    const RawConnection other(store.port());
    // Time enough for it to have been refused before it asks.
    answer = other.ReceiveHead(5s);
    asked = other.Send(Get("/global/rank_0")) && other.Send("and more");
    answer += other.ReceiveAll(5s);
  }).join();
  CHECK(asked);
  CHECK(answer.starts_with("HTTP/1.1 403"));
  CHECK(answer.ends_with("not to uid 65534\n"));
  CHECK(store.refused() == 1);
}

TEST_CASE("a piece of a connection that has ended opens no other", "[agent]") {
  EventLoop loop;
  std::vector<TunnelPiece> said;
  StoreExit exit(
      loop, 1, [&](TunnelPiece piece) { said.push_back(std::move(piece)); },
      [](TunnelTaken) {});
  exit.OnPiece({5, "GET"});
  // Nobody listens at port 1.
  REQUIRE(loop.RunUntil([&] { return !said.empty(); }, 5s));
  CHECK(said.back() == TunnelPiece{5, "", true});
  exit.OnPiece({5, " more", true});
  exit.OnPiece({4, "older"});
  loop.RunUntil([] { return true; }, 5s);
  CHECK(said.size() == 1);
}

}  // namespace hvd::testing
