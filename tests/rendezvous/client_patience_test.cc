// How long RendezvousClient waits, and what ends its waiting.
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "loopback_listener.h"
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

}  // namespace

TEST_CASE("a client waits no longer than its deadline", "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 2));
  RendezvousClient client = job.Client({"a", 0});
  const Instant start = SteadyClock().Now();
  const auto world = job.Run(
      [&] { return client.WaitWorld(Epoch{0}, EndpointAt(1), In(100ms)); });
  REQUIRE_FALSE(world.ok());
  CHECK(world.error().code() == ErrorCode::kTimeout);
  CHECK(SteadyClock().Now() - start >= 100ms);
  // It is as good as new for the next call.
  CHECK(job.Run([&] { return client.Log("x", In(kPatience)); }).ok());
}

TEST_CASE("a client says that nobody is there", "[rendezvous][net]") {
  std::uint16_t port = 0;
  {
    const UniqueFd listener = ListenOnLoopback();
    port = PortOf(listener.get());
  }
  RendezvousClient client({"127.0.0.1", port}, ServedJob::kKey, {"a", 0});
  const Status status = client.Log("x", In(100ms));
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code() == ErrorCode::kUnavailable);
  CHECK(status.error().message() ==
        "log to hvdrun: hvdrun at 127.0.0.1:" + std::to_string(port) +
            ": connect: Connection refused");
}

TEST_CASE("a client keeps trying until hvdrun can be reached",
          "[rendezvous][net]") {
  std::uint16_t port = 0;
  {
    const UniqueFd listener = ListenOnLoopback();
    port = PortOf(listener.get());
  }
  RendezvousClient client({"127.0.0.1", port}, ServedJob::kKey, {"a", 0});
  auto logging = std::async(std::launch::async,
                            [&] { return client.Log("x", In(kPatience)); });
  CHECK(logging.wait_for(100ms) == std::future_status::timeout);
  ServedJob job({}, "127.0.0.1", port);
  CHECK(job.Await(std::move(logging)).ok());
  CHECK(job.logs.size() == 1);
}

TEST_CASE("a client that waits as long as hvdrun answers gives up without it",
          "[rendezvous][net]") {
  auto job = std::make_unique<ServedJob>();
  job->server->Publish(WorldOf(1, 2));
  RendezvousClient client = job->Client({"a", 0});
  const auto wait = [&] {
    return client.WaitWorldWhileAnswered(Epoch{0}, EndpointAt(1), 300ms);
  };
  auto waiting = job->Start(wait);
  REQUIRE(job->Until([&] { return job->ready.size() == 1; }));
  // Longer than it would wait in vain.
  CHECK_FALSE(
      job->loop.RunUntil([&] { return ServedJob::IsReady(waiting); }, 500ms));
  job.reset();
  const auto world = waiting.get();
  REQUIRE_FALSE(world.ok());
  CHECK(world.error().code() == ErrorCode::kUnavailable);
}

TEST_CASE("a client whose idle connection was closed opens another",
          "[rendezvous][net]") {
  ServedJob job({.idle = 1ms});
  RendezvousClient client = job.Client({"a", 0});
  for (int i = 0; i < 3; ++i) {
    REQUIRE(job.Run([&] { return client.Log("x", In(kPatience)); }).ok());
    job.loop.RunUntil([] { return false; }, 600ms);  // a sweep passes
  }
  CHECK(job.logs.size() == 3);
}

TEST_CASE("an address that is none is not retried", "[rendezvous][net]") {
  RendezvousClient client({"localhost", 1}, ServedJob::kKey, {"a", 0});
  const Status status = client.Log("x", In(kPatience));
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code() == ErrorCode::kInvalidArgument);
  CHECK(status.error().message() ==
        "log to hvdrun: hvdrun at localhost:1: \"localhost\" is not an IP "
        "address");
}

TEST_CASE("Cancel ends the call in progress and all later ones",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Publish(WorldOf(1, 2));
  RendezvousClient client = job.Client({"a", 0});
  auto waiting = job.Start(
      [&] { return client.WaitWorld(Epoch{0}, EndpointAt(1), In(kPatience)); });
  REQUIRE(job.Until([&] { return job.ready.size() == 1; }));
  client.Cancel();
  const auto world = job.Await(std::move(waiting));
  REQUIRE_FALSE(world.ok());
  CHECK(world.error().code() == ErrorCode::kCancelled);
  const Status later = job.Run([&] { return client.Log("x", In(kPatience)); });
  REQUIRE_FALSE(later.ok());
  CHECK(later.error().code() == ErrorCode::kCancelled);
}

TEST_CASE("Cancel ends the wait for a server that is not there",
          "[rendezvous][net]") {
  RendezvousClient client({"127.0.0.1", 1}, ServedJob::kKey, {"a", 0});
  auto logging = std::async(std::launch::async,
                            [&] { return client.Log("x", In(kPatience)); });
  CHECK(logging.wait_for(30ms) == std::future_status::timeout);
  client.Cancel();
  const Status status = logging.get();
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code() == ErrorCode::kCancelled);
}

}  // namespace hvd
