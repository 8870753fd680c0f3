#include "collectives/make_communicator.h"

#include <algorithm>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "collectives/quiet_thread.h"
#include "collectives/ring_communicator.h"
#include "collectives/ring_link.h"
#include "collectives/ring_schedule.h"
#include "collectives/solo_communicator.h"
#include "collectives/wait_policy.h"

namespace hvd {
namespace {

const Endpoint& EndpointOf(const Membership& membership, int rank) {
  return membership.endpoints[static_cast<std::size_t>(rank)];
}

LinkPlan PlanLink(const Membership& membership, int from, int to,
                  std::string_view key, const Doorbell& doorbell,
                  const RingOptions& options) {
  return {.identity = {static_cast<std::uint64_t>(membership.world.epoch),
                       static_cast<int>(membership.endpoints.size()), from, to},
          .same_host = EndpointOf(membership, from).host_key ==
                       EndpointOf(membership, to).host_key,
          .key = key,
          .doorbell = doorbell,
          .deadline = options.deadline,
          .cancel_fd = options.cancel_fd};
}

WaitPolicy PolicyFor(const Membership& membership, bool all_shared) {
  const std::string& here = EndpointOf(membership, membership.rank).host_key;
  const auto ranks_here =
      std::count_if(membership.endpoints.begin(), membership.endpoints.end(),
                    [&](const Endpoint& e) { return e.host_key == here; });
  return ChooseWait(static_cast<int>(ranks_here), UsableCores(), all_shared);
}

}  // namespace

Result<std::unique_ptr<Communicator>> MakeCommunicator(
    const Membership& membership, std::string_view key,
    const RingListener& listener, const RingOptions& options) {
  const int size = static_cast<int>(membership.endpoints.size());
  const int rank = membership.rank;
  if (size == 1) {
    return std::unique_ptr<Communicator>(std::make_unique<SoloCommunicator>());
  }
  Doorbell doorbell;
  const LinkPlan from_left =
      PlanLink(membership, LeftOf(rank, size), rank, key, doorbell, options);
  const LinkPlan to_right =
      PlanLink(membership, rank, RightOf(rank, size), key, doorbell, options);
  // Each rank dials and is dialled at once; one after the other would deadlock.
  std::optional<Result<LeftLink>> left;
  std::thread accept = StartQuietThread(
      "hvd-accept", [&] { left = AcceptLeft(listener, from_left); });
  Result<RightLink> right =
      DialRight(EndpointOf(membership, to_right.identity.to), to_right);
  accept.join();
  if (!right.ok()) return std::move(right).error();
  if (!left->ok()) return std::move(*left).error();
  return std::unique_ptr<Communicator>(
      std::make_unique<RingCommunicator>(RingCommunicator::Parts{
          .rank = rank,
          .size = size,
          .left = std::move(*left).value(),
          .right = std::move(right).value(),
          .doorbell = std::move(doorbell),
          .wait =
              PolicyFor(membership, from_left.same_host && to_right.same_host),
          .timeout = options.collective_timeout}));
}

}  // namespace hvd
