// A worker that lives on though its host was given up.
#include <catch2/catch.hpp>

#include "tests/rendezvous/served_job.h"

namespace hvd {

using testing::EndpointAt;
using testing::In;
using testing::kPatience;
using testing::ServedJob;
using testing::WorldOf;

TEST_CASE("a worker whose host was given up has no say in the next world",
          "[rendezvous][net]") {
  ServedJob job;
  job.server->Replace({"a", 0}, LaunchId{1});
  job.server->Publish(WorldOf(1, 1));
  RendezvousClient old = job.Client({"a", 0}, ServedJob::kKey, LaunchId{1});
  REQUIRE(job.Run([&] {
               return old.WaitWorld(Epoch{0}, EndpointAt(1), In(kPatience));
             })
              .ok());
  job.server->Replace({"a", 0}, LaunchId{2});
  job.server->Publish(WorldOf(2, 1));
  const auto world = job.Run(
      [&] { return old.WaitWorld(Epoch{1}, EndpointAt(1), In(kPatience)); });
  REQUIRE_FALSE(world.ok());
  CHECK(world.error().code() == ErrorCode::kNotFound);
  CHECK_FALSE(
      job.Run([&] { return old.Blame(Epoch{2}, 0, In(kPatience)); }).ok());
  CHECK(job.blames.empty());
  CHECK(job.ready.size() == 1);
  RendezvousClient newer = job.Client({"a", 0}, ServedJob::kKey, LaunchId{2});
  CHECK(job.Run([&] {
             return newer.WaitWorld(Epoch{0}, EndpointAt(2), In(kPatience));
           })
            .ok());
}

}  // namespace hvd
