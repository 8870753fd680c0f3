#include "worker/job_context.h"

#include <string>
#include <utility>

#include "base/seconds.h"
#include "collectives/make_communicator.h"
#include "collectives/ring_listener.h"
#include "rendezvous/rendezvous_client.h"
#include "worker/notice_thread.h"

namespace hvd {
namespace {

// A line or a result: hvdrun answers in milliseconds, if it lives.
constexpr Duration kRequestLimit{10'000};
// hvdrun ends a job whose workers do not all join within --start-timeout, and
// knows who is missing. Our own limit is for when hvdrun says nothing.
constexpr Duration kHvdrunSpeaksFirst{5'000};
// From a rank's end to hvdrun's word about it takes a few ms. The program is to
// know within 100 ms of that end.
constexpr Duration kHvdrunSeesFirst{75};

Identity IdentityOf(const WorkerId& worker, const Membership& membership) {
  const Placement placement = PlacementOf(membership.world, membership.rank);
  return {.rank = placement.rank,
          .size = placement.size,
          .local_rank = placement.local_rank,
          .local_size = placement.local_size,
          .cross_rank = placement.cross_rank,
          .cross_size = placement.cross_size,
          .host = worker.host,
          .epoch = static_cast<std::uint64_t>(membership.world.epoch)};
}

Duration JoinLimit(const WorkerEnv& env) {
  return env.start_timeout + kHvdrunSpeaksFirst;
}

class JobContext : public Context {
 public:
  // Called once, before anything else.
  Status Join(const WorkerEnv& env, RingListener listener) {
    listener_.emplace(std::move(listener));
    const RendezvousAddress server{env.rendezvous_address, env.rendezvous_port};
    client_.emplace(server, env.job_key, env.worker);
    const Instant deadline = SteadyClock().Now() + JoinLimit(env);
    const Result<Membership> world =
        client_->WaitWorld(Epoch{0}, listener_->endpoint(), deadline);
    if (!world.ok()) return world.error();
    identity_ = IdentityOf(env.worker, world.value());
    Result<std::unique_ptr<Communicator>> made = MakeCommunicator(
        world.value(), env.job_key, *listener_,
        {.collective_timeout = env.collective_timeout, .deadline = deadline});
    if (!made.ok()) return std::move(made).error();
    communicator_ = std::move(made).value();
    if (identity_.size > 1) {
      notice_client_.emplace(server, env.job_key, env.worker);
      notices_.emplace(*notice_client_, world.value().world.epoch,
                       *communicator_);
    }
    return Done{};
  }

  const Identity& identity() const override { return identity_; }
  Communicator& communicator() override { return *communicator_; }
  void LetHvdrunSeeFirst() override {
    if (std::exchange(has_waited_, true)) return;
    const CommFailure* failure = communicator_->failure();
    if (failure == nullptr || failure->rank < 0 ||
        failure->rank == identity_.rank) {
      return;  // nobody has ended
    }
    if (notices_) notices_->WaitForNotice(kHvdrunSeesFirst);
  }

  Status Log(std::string_view text) override {
    return client_->Log(text, SteadyClock().Now() + kRequestLimit);
  }
  Status SetResult(std::string_view bytes) override {
    return client_->SetResult(bytes, SteadyClock().Now() + kRequestLimit);
  }

 private:
  Identity identity_;
  std::optional<RingListener> listener_;
  std::optional<RendezvousClient> client_;
  std::optional<RendezvousClient> notice_client_;
  std::unique_ptr<Communicator> communicator_;
  bool has_waited_ = false;
  std::optional<NoticeThread> notices_;  // ends before what it uses
};

}  // namespace

Result<std::unique_ptr<Context>> JoinJob(const WorkerEnv& env) {
  const std::string doing =
      "join the job of hvdrun at " + env.rendezvous_address + " port " +
      std::to_string(env.rendezvous_port) + " as worker " +
      ToString(env.worker) + " within " + SecondsText(JoinLimit(env)) +
      " (--start-timeout and " + SecondsText(kHvdrunSpeaksFirst) + ")";
  Result<RingListener> listener =
      RingListener::Listen(env.ring_address, HostKeyOf(env.worker.host));
  if (!listener.ok()) return std::move(listener).error().Wrap(doing);
  auto context = std::make_unique<JobContext>();
  Status joined = context->Join(env, std::move(listener).value());
  if (!joined.ok()) return std::move(joined).error().Wrap(doing);
  return std::unique_ptr<Context>(std::move(context));
}

}  // namespace hvd
