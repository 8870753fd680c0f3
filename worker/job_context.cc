#include "worker/job_context.h"

#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/seconds.h"
#include "collectives/ring_listener.h"
#include "collectives/solo_communicator.h"
#include "rendezvous/rendezvous_client.h"
#include "worker/joined_world.h"

namespace hvd {
namespace {

// A line or a result: hvdrun answers in milliseconds, if it lives.
constexpr Duration kRequestLimit{10'000};
// The program is to know of a failure within 100 ms of it.
constexpr Duration kBlameLimit{75};
// hvdrun ends a job whose workers do not all join within --start-timeout, and
// knows who is missing. Our own limit is for when hvdrun says nothing.
constexpr Duration kHvdrunSpeaksFirst{5'000};
// A hvdrun that cannot be reached for this long is gone. It is on this machine
// or behind a network whose short failures TCP hides.
constexpr Duration kHvdrunGone{10'000};

Duration JoinLimit(const WorkerEnv& env) {
  return env.start_timeout + kHvdrunSpeaksFirst;
}

Result<RingListener> ListenAt(const std::string& address,
                              const WorkerEnv& env) {
  return RingListener::Listen(address, HostKeyOf(env.worker.host),
                              env.port_range);
}

class JobContext : public Context {
 public:
  JobContext(WorkerEnv env, RingListener listener, const Selection& table,
             const SharedHeap* heap)
      : env_(std::move(env)),
        listener_(std::move(listener)),
        table_(table),
        heap_(heap),
        client_({env_.rendezvous_address, env_.rendezvous_port}, env_.job_key,
                env_.worker, env_.launch) {
    client_.OnMove(
        [this](const std::string& address) { return MoveRing(address); });
  }

  // Joins the first world newer than the last one. Called once before anything
  // else.
  Status JoinNext() {
    Instant deadline = SteadyClock().Now() + JoinLimit(env_);
    for (;;) {
      Result<Membership> next = WaitWorld(deadline);
      if (!next.ok()) return std::move(next).error();
      auto world = std::make_unique<JoinedWorld>(env_, std::move(next).value());
      held_ = world->epoch();
      if (env_.elastic) deadline = SteadyClock().Now() + JoinLimit(env_);
      Status formed = world->Form(listener_, deadline, table_, heap_);
      if (formed.ok()) {
        Enter(std::move(world));
        return formed;
      }
      if (formed.error().code() != ErrorCode::kCancelled) return formed;
    }
  }

  const Identity& identity() const override { return *identity_.load(); }
  Communicator& communicator() override {
    return world_ ? world_->communicator() : nobody_;
  }
  CommQueue& queue() override {
    return world_ ? world_->queue() : nobodys_queue_;
  }
  void BlameFailedRank() override {
    const std::optional<int> rank =
        world_ ? world_->NewlyFailedRank() : std::nullopt;
    if (!rank) return;
    // It is a courtesy: without hvdrun's answer the failure is told as well.
    (void)client_.Blame(world_->epoch(), *rank,
                        SteadyClock().Now() + kBlameLimit);
  }

  bool elastic() const override { return env_.elastic; }
  bool HeardOfChange() const override {
    return world_ && world_->heard_of_change();
  }
  Status Rejoin() override {
    world_.reset();
    Status joined = JoinNext();
    if (!joined.ok()) {
      nobody_.Abort(
          {-1, joined.error().code(),
           "this worker is in no world: " + joined.error().message()});
    }
    return joined;
  }

  Status Log(std::string_view text) override {
    return client_.Log(text, SteadyClock().Now() + kRequestLimit);
  }
  Status SetResult(std::string_view bytes) override {
    return client_.SetResult(bytes, SteadyClock().Now() + kRequestLimit);
  }

 private:
  // How long an elastic job waits for a world is hvdrun's business: until there
  // are hosts enough, until the others come to their next commit.
  Result<Membership> WaitWorld(Instant deadline) {
    const Endpoint mine = listener_.endpoint();
    if (env_.elastic) {
      return client_.WaitWorldWhileAnswered(held_, mine, kHvdrunGone);
    }
    return client_.WaitWorld(held_, mine, deadline);
  }

  // Between two worlds: nobody dials the old address any more.
  Result<Endpoint> MoveRing(const std::string& address) {
    Result<RingListener> moved = ListenAt(address, env_);
    if (!moved.ok()) return std::move(moved).error();
    listener_ = std::move(moved).value();
    return listener_.endpoint();
  }

  void Enter(std::unique_ptr<JoinedWorld> world) {
    world_ = std::move(world);
    identities_.push_back(world_->identity());
    identity_.store(&identities_.back());
  }

  const WorkerEnv env_;
  // The same for all worlds, unless the host's address changes: what is left of
  // an older one is turned away by the ring's handshake.
  RingListener listener_;
  const Selection table_;
  const SharedHeap* const heap_;
  RendezvousClient client_;
  Epoch held_{};
  SoloCommunicator nobody_;  // once there is no next world: every call fails
  CommQueue nobodys_queue_{nobody_};
  // All there were: other threads may be reading an older one.
  std::deque<Identity> identities_;
  std::atomic<const Identity*> identity_{nullptr};
  std::unique_ptr<JoinedWorld> world_;
};

}  // namespace

Result<std::unique_ptr<Context>> JoinJob(const WorkerEnv& env,
                                         const Selection& table,
                                         const SharedHeap* heap) {
  std::string doing = "join the job of hvdrun at " + env.rendezvous_address +
                      " port " + std::to_string(env.rendezvous_port) +
                      " as worker " + ToString(env.worker);
  if (!env.elastic) {
    doing += " within " + SecondsText(JoinLimit(env)) +
             " (--start-timeout and " + SecondsText(kHvdrunSpeaksFirst) + ")";
  }
  Result<RingListener> listener = ListenAt(env.ring_address, env);
  if (!listener.ok()) return std::move(listener).error().Wrap(doing);
  auto context = std::make_unique<JobContext>(env, std::move(listener).value(),
                                              table, heap);
  Status joined = context->JoinNext();
  if (!joined.ok()) return std::move(joined).error().Wrap(doing);
  return std::unique_ptr<Context>(std::move(context));
}

}  // namespace hvd
