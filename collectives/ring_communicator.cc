#include "collectives/ring_communicator.h"

#include <poll.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/seconds.h"
#include "collectives/ring_schedule.h"

namespace hvd {
namespace {

// How long a broken channel or a proposal may wait for the watch thread's
// verdict, which needs RingVerdict::kElection and a few hops.
constexpr Duration kVerdictLimit{2000};

std::byte* At(void* data, std::size_t bytes) {
  return static_cast<std::byte*>(data) + bytes;
}
const std::byte* At(const void* data, std::size_t bytes) {
  return static_cast<const std::byte*>(data) + bytes;
}

Status TooLong(const char* call, std::size_t count) {
  return Error(ErrorCode::kInvalidArgument,
               std::string(call) + ": count " + std::to_string(count) +
                   " is more than memory can hold");
}

bool Fits(std::size_t count, std::size_t element, int copies) {
  return count <= std::numeric_limits<std::size_t>::max() / element / 2 /
                      static_cast<std::size_t>(copies);
}

}  // namespace

RingCommunicator::RingCommunicator(Parts parts)
    : rank_(parts.rank),
      size_(parts.size),
      timeout_(parts.timeout),
      wait_(parts.wait),
      doorbell_(std::move(parts.doorbell)),
      left_(std::move(parts.left.data)),
      right_(std::move(parts.right.data)),
      watch_(parts.rank, parts.size, std::move(parts.left.neighbour),
             std::move(parts.right.neighbour), doorbell_.Share()) {
  flow_.size = size_;
}

RingCommunicator::~RingCommunicator() { watch_.Leave(completed_); }

Status RingCommunicator::AllReduce(const void* in, void* out, std::size_t count,
                                   DataType type, ReduceOp op) {
  const std::size_t element = SizeOf(type);
  if (!Fits(count, element, 1)) return TooLong("allreduce", count);
  if (Status s = Enter(
          {.count = count, .call = Call::kAllReduce, .type = type, .op = op});
      !s.ok()) {
    return s;
  }
  if (count == 0) return Finish(PassTokens());
  StartFlow();
  flow_.type = type;
  flow_.op = op;
  for (int step = 0; step < AllReduceSteps(size_); ++step) {
    const RingStep plan = AllReduceStep(rank_, size_, step);
    const Chunk send = ChunkOf(count, size_, plan.send);
    const Chunk receive = ChunkOf(count, size_, plan.receive);
    // What goes out first is one's own; all else has come in before.
    flow_.sends.push_back(
        {At(step == 0 ? in : out, send.begin * element), send.count * element});
    flow_.receives.push_back({At(out, receive.begin * element),
                              receive.count * element, plan.on_receipt,
                              At(in, receive.begin * element)});
    if (step == 0) flow_.head += Padded(send.count * element);
  }
  return Finish(Run(true));
}

Status RingCommunicator::AllGather(const void* in, void* out, std::size_t count,
                                   DataType type) {
  const std::size_t bytes = count * SizeOf(type);
  if (!Fits(count, SizeOf(type), size_)) return TooLong("allgather", count);
  if (Status s =
          Enter({.count = count, .call = Call::kAllGather, .type = type});
      !s.ok()) {
    return s;
  }
  if (count == 0) return Finish(PassTokens());
  const auto slot = [&](int rank) {
    return At(out, static_cast<std::size_t>(rank) * bytes);
  };
  if (slot(rank_) != in) std::memmove(slot(rank_), in, bytes);
  StartFlow();
  for (int step = 0; step < AllGatherSteps(size_); ++step) {
    const RingStep plan = AllGatherStep(rank_, size_, step);
    flow_.sends.push_back({slot(plan.send), bytes});
    flow_.receives.push_back({slot(plan.receive), bytes});
  }
  flow_.head += Padded(bytes);
  return Finish(Run(true));
}

Status RingCommunicator::Broadcast(void* data, std::size_t count, DataType type,
                                   int root) {
  const std::size_t bytes = count * SizeOf(type);
  if (!Fits(count, SizeOf(type), 1)) return TooLong("broadcast", count);
  if (root < 0 || root >= size_) {
    return Error(ErrorCode::kInvalidArgument,
                 "broadcast: root must be 0 to " + std::to_string(size_ - 1) +
                     ", got " + std::to_string(root));
  }
  if (Status s = Enter({.count = count,
                        .root = root,
                        .call = Call::kBroadcast,
                        .type = type});
      !s.ok()) {
    return s;
  }
  // First all agree, then the array goes from root to root's left neighbour.
  Status agreed = PassTokens();
  if (!agreed.ok() || count == 0) return Finish(std::move(agreed));
  flow_.Clear();
  if (RightOf(rank_, size_) != root) flow_.sends.push_back({data, bytes});
  if (rank_ != root) flow_.receives.push_back({data, bytes});
  if (rank_ == root) flow_.head = Padded(bytes);
  return Finish(Run(false));
}

Status RingCommunicator::Barrier() {
  if (Status s = Enter({}); !s.ok()) return s;
  return Finish(PassTokens());
}

void RingCommunicator::Abort(CommFailure failure) {
  watch_.Propose(std::move(failure));
}

Status RingCommunicator::Enter(CallHeader call) {
  if (std::optional<Status> ended = Ended()) return *std::move(ended);
  call_ = call;
  call_.operation = completed_ + 1;
  watch_.Enter(call_.operation);
  return Done{};
}

void RingCommunicator::StartFlow() {
  flow_.Clear();
  flow_.sends.push_back({&call_, sizeof(call_)});
  flow_.receives.push_back({&left_call_, sizeof(left_call_)});
  flow_.head = sizeof(call_);
  flow_.prefix = sizeof(left_call_);
}

// A token from each rank passes all others: who has seen them all knows that
// every rank has entered.
Status RingCommunicator::PassTokens() {
  StartFlow();
  for (int step = 0; step < AllGatherSteps(size_); ++step) {
    flow_.sends.push_back({&token_, sizeof(token_)});
    flow_.receives.push_back({&token_, sizeof(token_)});
  }
  flow_.head += sizeof(token_);
  return Run(true);
}

Status RingCommunicator::Finish(Status status) {
  if (status.ok()) ++completed_;
  return status;
}

Status RingCommunicator::Run(bool starts_with_call) {
  RingFlow run(flow_, *right_, *left_);
  Patience patience(timeout_);
  left_entered_ = !starts_with_call;
  Looking looking(wait_);
  while (!run.done()) {
    const Result<bool> moved = Move(run);
    if (!moved.ok()) return AwaitVerdict();  // the watch knows who, and why
    if (!left_entered_ && run.pieces_received() > 0) {
      if (Status s = CheckCall(); !s.ok()) return s;
    }
    if (moved.value()) {
      looking = Looking(wait_);
      continue;
    }
    if (std::optional<Status> ended = Ended()) return *std::move(ended);
    const Instant now = SteadyClock().Now();
    if (looking.first()) patience.Restart(now);
    if (looking.Again(now)) continue;
    Sleep(run, patience);
  }
  return Done{};
}

Result<bool> RingCommunicator::Move(RingFlow& run) {
  Result<bool> received = run.Receive();
  if (!received.ok()) return received;
  Result<bool> sent = run.Send();
  if (!sent.ok()) return sent;
  return received.value() || sent.value();
}

Status RingCommunicator::CheckCall() {
  left_entered_ = true;
  if (left_call_ == call_) return Done{};
  watch_.Propose(
      {-1, ErrorCode::kInvalidArgument,
       DescribeMismatch(LeftOf(rank_, size_), left_call_, rank_, call_)});
  return AwaitVerdict();
}

void RingCommunicator::Sleep(const RingFlow& run, Patience& patience) {
  const Instant before = SteadyClock().Now();
  const std::optional<Duration> slice = patience.NextSlice(before);
  if (!slice) {
    // The verdict rings the doorbell; if the silent one goes on instead, so
    // does this.
    Inquire(run);
    patience.Restart(before);
    return;
  }
  std::array<pollfd, 3> fds{pollfd{doorbell_.fd(), POLLIN, 0}, pollfd{-1, 0, 0},
                            pollfd{-1, 0, 0}};
  bool ready = false;
  const auto arm = [&](auto& channel, pollfd& slot) {
    const std::optional<pollfd> armed = channel.Arm();
    ready = ready || !armed;
    if (armed) slot = *armed;
  };
  if (!run.all_received()) arm(*left_, fds[1]);
  if (run.may_send()) arm(*right_, fds[2]);
  if (!ready) {
    (void)::poll(fds.data(), fds.size(), static_cast<int>(slice->count()));
    if (fds[0].revents != 0) doorbell_.Drain();
    patience.Slept(before, SteadyClock().Now(), *slice);
  }
  left_->Disarm();
  right_->Disarm();
}

// Who has everything and cannot send waits for the right one; else the left one
// has not sent. Either may itself wait for another: the watch asks around.
void RingCommunicator::Inquire(const RingFlow& run) {
  watch_.Inquire(
      run.all_received() ? RightOf(rank_, size_) : LeftOf(rank_, size_),
      "operation " + std::to_string(call_.operation) + " (" + Describe(call_) +
          ") within " + SecondsText(timeout_) + ", --collective-timeout");
}

Status RingCommunicator::AwaitVerdict() {
  watch_.WaitForNews(call_.operation, kVerdictLimit);
  if (std::optional<Status> ended = Ended()) return *std::move(ended);
  // A channel broke whose control connection is whole.
  const std::string text = "rank " + std::to_string(rank_) +
                           " lost its connection to a ring neighbour";
  watch_.Declare({-1, ErrorCode::kUnavailable, text});
  return Error(ErrorCode::kUnavailable, text);
}

// Whether the operation in hand, or the next one, can no longer succeed.
std::optional<Status> RingCommunicator::Ended() {
  if (watch_.pending()) watch_.WaitForNews(0, kVerdictLimit);
  if (const CommFailure* failure = watch_.failure()) {
    return Error(failure->code, failure->text);
  }
  const auto gone = watch_.DepartedBefore(completed_ + 1);
  if (!gone) return std::nullopt;
  CommFailure left{gone->rank, ErrorCode::kUnavailable,
                   "rank " + std::to_string(gone->rank) + " has left after " +
                       std::to_string(gone->operations) + " operations"};
  watch_.Declare(left);
  watch_.WaitForNews(0, kVerdictLimit);
  return Error(left.code, left.text);
}

}  // namespace hvd
