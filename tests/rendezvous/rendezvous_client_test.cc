#include "rendezvous/rendezvous_client.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "served_job.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

using testing::EndpointAt;
using testing::In;
using testing::kPatience;
using testing::ServedJob;
using testing::WorldOf;

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
      job.Start([&] { return client.WaitNotice(Epoch{1}, In(kPatience)); });
  CHECK_FALSE(
      job.loop.RunUntil([&] { return ServedJob::IsReady(waiting); }, 50ms));
  job.server->Notify(Epoch{1}, 1, "rank 1 was killed by SIGKILL");
  const auto notice = job.Await(std::move(waiting));
  REQUIRE(notice.ok());
  CHECK(notice.value().lost_rank == 1);
  CHECK(notice.value().text == "rank 1 was killed by SIGKILL");
  RendezvousClient late = job.Client({"a", 1});
  const auto again =
      job.Run([&] { return late.WaitNotice(Epoch{1}, In(kPatience)); });
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

}  // namespace hvd
