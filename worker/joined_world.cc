#include "worker/joined_world.h"

#include <utility>

#include "collectives/make_communicator.h"

namespace hvd {
namespace {

Identity IdentityOf(const Membership& membership) {
  const Placement placement = PlacementOf(membership.world, membership.rank);
  const auto rank = static_cast<std::size_t>(membership.rank);
  return {.rank = placement.rank,
          .size = placement.size,
          .local_rank = placement.local_rank,
          .local_size = placement.local_size,
          .cross_rank = placement.cross_rank,
          .cross_size = placement.cross_size,
          .host = membership.world.workers[rank].host,
          .epoch = static_cast<std::uint64_t>(membership.world.epoch)};
}

}  // namespace

JoinedWorld::JoinedWorld(const WorkerEnv& env, Membership membership)
    : env_(env),
      membership_(std::move(membership)),
      identity_(IdentityOf(membership_)) {
  // A static job has no other world to go to: hvdrun ends it.
  if (env.elastic) Listen();
}

void JoinedWorld::Listen() {
  client_.emplace(
      RendezvousAddress{env_.rendezvous_address, env_.rendezvous_port},
      env_.job_key, env_.worker, env_.launch);
  notices_.emplace(*client_, membership_.world.epoch);
}

Status JoinedWorld::Form(const RingListener& listener, Instant deadline,
                         const Selection& table, const SharedHeap* heap) {
  const int cancel_fd = notices_ ? notices_->over_fd() : -1;
  Result<std::unique_ptr<Communicator>> made =
      MakeCommunicator(membership_, env_.job_key, listener,
                       {.collective_timeout = env_.collective_timeout,
                        .deadline = deadline,
                        .cancel_fd = cancel_fd,
                        .table = table,
                        .heap = heap});
  if (!made.ok()) return std::move(made).error();
  communicator_ = std::move(made).value();
  queue_.emplace(*communicator_);
  if (!notices_ && identity_.size > 1) Listen();
  if (notices_) notices_->Guard(*communicator_);
  return Done{};
}

std::optional<int> JoinedWorld::NewlyFailedRank() {
  const CommFailure* failure = communicator_->failure();
  if (failure == nullptr || std::exchange(failure_told_, true)) {
    return std::nullopt;
  }
  const bool gone = failure->rank >= 0 && failure->rank != identity_.rank &&
                    failure->code != ErrorCode::kTimeout;
  return gone ? std::optional(failure->rank) : std::nullopt;
}

}  // namespace hvd
