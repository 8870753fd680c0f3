#include "rendezvous/rendezvous_client.h"

#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "loopback_listener.h"
#include "rendezvous/http_head.h"
#include "served_job.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

using testing::EndpointAt;
using testing::In;
using testing::kPatience;
using testing::ListenOnLoopback;
using testing::PortOf;
using testing::ServedJob;
using testing::WorldOf;

void ReadHead(int fd) {
  std::string head;
  std::array<char, 4096> chunk{};
  while (!HeadSize(head, 0)) {
    const ssize_t n = ::recv(fd, chunk.data(), chunk.size(), 0);
    if (n <= 0) return;
    head.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

void Say(int fd, std::string_view text) {
  ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
}

}  // namespace

TEST_CASE("workers get the world once all of them have asked",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 2));
  RendezvousClient first = job.Client({"a", 0});
  RendezvousClient second = job.Client({"a", 1});
  auto early = job.Start([&] {
    return first.WaitWorld(Epoch{0}, EndpointAt(100), In(kPatience));
  });
  REQUIRE(job.Until([&] { return job.ready.size() == 1; }));
  CHECK_FALSE(ServedJob::IsReady(early));
  const auto late = job.Run([&] {
    return second.WaitWorld(Epoch{0}, EndpointAt(101), In(kPatience));
  });
  const auto got = job.Await(std::move(early));
  REQUIRE(got.ok());
  REQUIRE(late.ok());
  CHECK(got.value().world == WorldOf(1, 2));
  CHECK(got.value().rank == 0);
  CHECK(late.value().rank == 1);
  CHECK(got.value().endpoints ==
        std::vector<Endpoint>{EndpointAt(100), EndpointAt(101)});
  CHECK(late.value().endpoints == got.value().endpoints);
  CHECK(job.ready == std::vector<std::pair<WorkerId, Epoch>>{
                         {{"a", 0}, Epoch{0}}, {{"a", 1}, Epoch{0}}});
}

TEST_CASE("a notice reaches who waits for it and who asks later",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 2));
  RendezvousClient client = job.Client({"a", 0});
  auto waiting =
      job.Start([&] { return client.WaitNotice({Epoch{1}}, In(kPatience)); });
  CHECK_FALSE(
      job.loop.RunUntil([&] { return ServedJob::IsReady(waiting); }, 50ms));
  job.server->Notify(Epoch{1}, {1, "rank 1 was killed by SIGKILL"});
  const auto notice = job.Await(std::move(waiting));
  REQUIRE(notice.ok());
  CHECK(notice.value().lost_rank == 1);
  CHECK(notice.value().text == "rank 1 was killed by SIGKILL");
  RendezvousClient late = job.Client({"a", 1});
  const auto again =
      job.Run([&] { return late.WaitNotice({Epoch{1}}, In(kPatience)); });
  REQUIRE(again.ok());
  CHECK(again.value().text == notice.value().text);
}

TEST_CASE("a line for hvdrun's terminal arrives with its worker",
          "[rendezvous][net]") {
  ServedJob job;
  RendezvousClient client = job.Client({"node-3", 7});
  REQUIRE(job.Run([&] { return client.Log("loss 0.5", In(kPatience)); }).ok());
  CHECK(job.logs == std::vector<std::pair<WorkerId, std::string>>{
                        {{"node-3", 7}, "loss 0.5"}});
}

TEST_CASE("a rank that others lost is blamed in the worker's name",
          "[rendezvous][net]") {
  ServedJob job;
  RendezvousClient client = job.Client({"node-3", 7});
  REQUIRE(
      job.Run([&] { return client.Blame(Epoch{4}, 2, In(kPatience)); }).ok());
  CHECK(job.blames ==
        std::vector<ServedJob::Blamed>{{{"node-3", 7}, Epoch{4}, 2}});
  // The server hands on what the message says, be there such a rank or not.
  const Status strange =
      job.Run([&] { return client.Blame(Epoch{4}, -1, In(kPatience)); });
  REQUIRE_FALSE(strange.ok());
  CHECK(strange.error().message().find("{epoch, rank}") != std::string::npos);
  CHECK(job.blames.size() == 1);
}

TEST_CASE("a result of several MiB arrives whole", "[rendezvous][net]") {
  ServedJob job;
  RendezvousClient client = job.Client({"a", 0});
  std::string bytes(std::size_t{5} << 20U, '\0');
  for (std::size_t i = 0; i < bytes.size(); i += 4093) bytes[i] = 'x';
  REQUIRE(job.Run([&] { return client.SetResult(bytes, In(kPatience)); }).ok());
  REQUIRE(job.results.size() == 1);
  CHECK(job.results[0].first == WorkerId{"a", 0});
  CHECK((job.results[0].second == bytes));
}

TEST_CASE("64 workers get their world with one request each",
          "[rendezvous][net]") {
  constexpr int kWorkers = 64;
  ServedJob job;
  job.server->Publish(WorldOf(1, kWorkers));
  std::vector<std::unique_ptr<RendezvousClient>> clients;
  std::vector<std::future<Result<Membership>>> waits;
  for (int i = 0; i < kWorkers; ++i) {
    clients.push_back(std::make_unique<RendezvousClient>(
        RendezvousAddress{"127.0.0.1", job.server->port()}, ServedJob::kKey,
        WorkerId{"a", i}));
    waits.push_back(job.Start([client = clients.back().get(), i] {
      return client->WaitWorld(Epoch{0},
                               EndpointAt(static_cast<std::uint16_t>(i + 1)),
                               In(kPatience));
    }));
  }
  for (int i = 0; i < kWorkers; ++i) {
    const auto world = job.Await(std::move(waits[static_cast<size_t>(i)]));
    REQUIRE(world.ok());
    CHECK(world.value().rank == i);
    REQUIRE(world.value().endpoints.size() == kWorkers);
    CHECK(world.value().endpoints[63] == EndpointAt(64));
  }
  CHECK(job.ready.size() == kWorkers);
}

TEST_CASE("survivors and a newcomer learn the next world",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 1));
  RendezvousClient survivor = job.Client({"a", 0});
  RendezvousClient newcomer = job.Client({"b", 0});
  REQUIRE(job.Run([&] {
               return survivor.WaitWorld(Epoch{0}, EndpointAt(1),
                                         In(kPatience));
             })
              .ok());
  auto joining = job.Start([&] {
    return newcomer.WaitWorld(Epoch{0}, EndpointAt(2), In(kPatience));
  });
  REQUIRE(job.Until([&] { return job.ready.size() == 2; }));
  const World next{Epoch{2}, {{"a", 0}, {"b", 0}}};
  job.server->Publish(next);
  const auto notice =
      job.Run([&] { return survivor.WaitNotice({Epoch{1}}, In(kPatience)); });
  REQUIRE(notice.ok());
  CHECK(notice.value().lost_rank == std::nullopt);
  CHECK(notice.value().text == "the world of epoch 1 was replaced by epoch 2");
  const auto world = job.Run([&] {
    return survivor.WaitWorld(Epoch{1}, EndpointAt(1), In(kPatience));
  });
  REQUIRE(world.ok());
  CHECK(world.value().world == next);
  const auto joined = job.Await(std::move(joining));
  REQUIRE(joined.ok());
  CHECK(joined.value().rank == 1);
}

TEST_CASE("a loss is told to those who have heard that the hosts changed",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 2));
  RendezvousClient client = job.Client({"a", 0});
  job.server->Notify(Epoch{1}, {std::nullopt, "host b was added"});
  const auto hear = [&](NoticeKind heard) {
    return client.WaitNotice({Epoch{1}, heard}, In(kPatience));
  };
  const auto change = job.Run([&] { return hear(NoticeKind::kNone); });
  REQUIRE(change.ok());
  CHECK(change.value() == WorldNotice{std::nullopt, "host b was added"});
  auto waiting = job.Start([&] { return hear(NoticeKind::kHostsChanged); });
  CHECK_FALSE(
      job.loop.RunUntil([&] { return ServedJob::IsReady(waiting); }, 50ms));
  job.server->Publish(WorldOf(2, 1));
  const auto replaced = job.Await(std::move(waiting));
  REQUIRE(replaced.ok());
  CHECK(replaced.value() ==
        WorldNotice{std::nullopt, "host b was added", true});
  waiting = job.Start([&] { return hear(NoticeKind::kReplaced); });
  CHECK_FALSE(
      job.loop.RunUntil([&] { return ServedJob::IsReady(waiting); }, 50ms));
  job.server->Notify(Epoch{1}, {1, "rank 1 was killed by SIGKILL"});
  const auto loss = job.Await(std::move(waiting));
  REQUIRE(loss.ok());
  CHECK(loss.value() == WorldNotice{1, "rank 1 was killed by SIGKILL"});
}

TEST_CASE("a worker that is no member any more is told so",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 1));
  RendezvousClient client = job.Client({"a", 0});
  REQUIRE(job.Run([&] {
               return client.WaitWorld(Epoch{0}, EndpointAt(1), In(kPatience));
             })
              .ok());
  job.server->Publish(WorldOf(2, 1, "b"));
  const auto world = job.Run(
      [&] { return client.WaitWorld(Epoch{1}, EndpointAt(1), In(kPatience)); });
  REQUIRE_FALSE(world.ok());
  CHECK(world.error().code() == ErrorCode::kNotFound);
  CHECK(world.error().message() ==
        "wait for the world: this worker is not wanted any more (status 410)");
}

TEST_CASE("a handler may publish the world that its worker waits for",
          "[rendezvous][net]") {
  EventLoop loop;
  std::unique_ptr<RendezvousServer> server;
  RendezvousOptions options;
  options.job_key = ServedJob::kKey;
  auto listening = RendezvousServer::Listen(
      loop, options,
      {.on_ready = [&](const WorkerId&,
                       Epoch) { server->Publish(WorldOf(1, 1)); },
       .on_heard = [](const auto&, Epoch, std::uint64_t) {},
       .on_blame = [](const auto&, Epoch, int) {},
       .on_log = [](const auto&, const auto&) {},
       .on_result = [](const auto&, const auto&) {},
       .on_refused = [](const auto&) {}});
  REQUIRE(listening.ok());
  server = std::move(listening).value();
  RendezvousClient client({"127.0.0.1", server->port()}, ServedJob::kKey,
                          {"a", 0});
  auto waiting = std::async(std::launch::async, [&] {
    return client.WaitWorld(Epoch{0}, EndpointAt(1), In(kPatience));
  });
  while (!ServedJob::IsReady(waiting)) {
    loop.RunUntil([&] { return ServedJob::IsReady(waiting); }, 2ms);
  }
  CHECK(waiting.get().ok());
}

TEST_CASE("a worker with a wrong key hears of authentication",
          "[rendezvous][net]") {
  ServedJob job;
  RendezvousClient client = job.Client({"a", 0}, "not the key");
  const auto world = job.Run(
      [&] { return client.WaitWorld(Epoch{0}, EndpointAt(1), In(kPatience)); });
  REQUIRE_FALSE(world.ok());
  CHECK(world.error().code() == ErrorCode::kInvalidArgument);
  CHECK(world.error().message() ==
        "wait for the world: authentication: hvdrun at 127.0.0.1:" +
            std::to_string(job.server->port()) +
            " refused this worker: authentication failed: the signature is "
            "not made with this job's key");
  CHECK(job.refused.size() == 1);
  CHECK(job.ready.empty());
}

TEST_CASE("a server without the job's key is not believed",
          "[rendezvous][net]") {
  const UniqueFd listener = ListenOnLoopback();
  std::jthread impostor([&] {
    const UniqueFd socket(
        ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ReadHead(socket.get());
    Say(socket.get(),
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nHVD-Nonce: "
        "00000000000000000000000000000000\r\n\r\n");
    ReadHead(socket.get());
    Say(socket.get(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  RendezvousClient client({"127.0.0.1", PortOf(listener.get())},
                          ServedJob::kKey, {"a", 0});
  const Status status = client.Log("x", In(kPatience));
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code() == ErrorCode::kInvalidArgument);
  CHECK(status.error().message().find("is not signed with this job's key") !=
        std::string::npos);
}

TEST_CASE("a long line is cut at a whole character and marked",
          "[rendezvous][net]") {
  ServedJob job;
  RendezvousClient client = job.Client({"a", 0});
  const std::string mark = " [cut: over 4000 bytes]";
  // 3999 bytes and a character of three that does not fit.
  const std::string text = std::string(3999, 'x') + "\xe2\x82\xac and more";
  const std::string fits(4000, 'y');
  const std::string no_utf8(5000, '\x80');
  for (const std::string& line : {text, fits, no_utf8}) {
    REQUIRE(job.Run([&] { return client.Log(line, In(kPatience)); }).ok());
  }
  REQUIRE(job.logs.size() == 3);
  CHECK(job.logs[0].second == std::string(3999, 'x') + mark);
  CHECK(job.logs[1].second == fits);
  CHECK(job.logs[2].second == std::string(4000, '\x80') + mark);
}

TEST_CASE("a result over 64 MiB is refused at once", "[rendezvous][net]") {
  RendezvousClient client({"127.0.0.1", 1}, ServedJob::kKey, {"a", 0});
  const std::string bytes(RendezvousClient::kMaxResultBytes + 1, 'x');
  const Status status = client.SetResult(bytes, In(kPatience));
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("a host name that cannot stand in a request is refused",
          "[rendezvous][net]") {
  for (const char* host : {"", "a b", "a\r\nHVD-Worker: b/0"}) {
    RendezvousClient client({"127.0.0.1", 1}, ServedJob::kKey, {host, 0});
    const Status status = client.Log("x", In(kPatience));
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code() == ErrorCode::kInvalidArgument);
  }
}

TEST_CASE("a worker whose host has another address moves there and asks again",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 1));
  job.server->SetRingAddress("a", "127.0.0.2");
  RendezvousClient client = job.Client({"a", 0});
  std::vector<std::string> moves;
  client.OnMove([&](const std::string& address) -> Result<Endpoint> {
    moves.push_back(address);
    return Endpoint{address, 7, "", ""};
  });
  const auto world = job.Run(
      [&] { return client.WaitWorld(Epoch{0}, EndpointAt(1), In(kPatience)); });
  REQUIRE(world.ok());
  CHECK(moves == std::vector<std::string>{"127.0.0.2"});
  CHECK(world.value().endpoints[0].address == "127.0.0.2");
  CHECK(job.ready.size() == 1);
}

TEST_CASE("a worker that waits moves when its host's address changes",
          "[rendezvous][net]") {
  ServedJob job;
  RendezvousClient client = job.Client({"a", 0});
  client.OnMove([](const std::string& address) -> Result<Endpoint> {
    return Endpoint{address, 7, "", ""};
  });
  auto world = job.Start(
      [&] { return client.WaitWorld(Epoch{0}, EndpointAt(1), In(kPatience)); });
  REQUIRE(job.Until([&] { return job.ready.size() == 1; }));
  job.server->SetRingAddress("a", "127.0.0.3");
  REQUIRE(job.Until([&] { return job.ready.size() == 2; }));
  job.server->Publish(WorldOf(1, 1));
  const auto got = job.Await(std::move(world));
  REQUIRE(got.ok());
  CHECK(got.value().endpoints[0].address == "127.0.0.3");
}

TEST_CASE("a worker that cannot move says why", "[rendezvous][net]") {
  ServedJob job;
  job.server->SetRingAddress("a", "192.0.2.1");
  RendezvousClient client = job.Client({"a", 0});
  client.OnMove([](const std::string&) -> Result<Endpoint> {
    return Error(ErrorCode::kUnavailable, "no such address here");
  });
  const auto world = job.Run(
      [&] { return client.WaitWorld(Epoch{0}, EndpointAt(1), In(kPatience)); });
  REQUIRE_FALSE(world.ok());
  CHECK(world.error().message() == "wait for the world: no such address here");
}

}  // namespace hvd
