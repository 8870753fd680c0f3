#include "collectives/vigil.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/seconds.h"

namespace hvd {
namespace {

// How long a broken channel or a proposal may wait for the watch thread's
// verdict, which needs RingVerdict::kElection and a few hops.
constexpr Duration kVerdictLimit{2000};

}  // namespace

Status Vigil::Enter(CallHeader call) {
  if (std::optional<Status> ended = Ended()) return *std::move(ended);
  call_ = call;
  call_.operation = completed_ + 1;
  watch_.Enter(call_.operation);
  return Done{};
}

Status Vigil::Check(int other, const CallHeader& theirs) {
  if (theirs == call_ || theirs.operation > call_.operation) return Done{};
  const bool first = other < rank_;
  return Fail({-1, ErrorCode::kInvalidArgument,
               first ? DescribeMismatch(other, theirs, rank_, call_)
                     : DescribeMismatch(rank_, call_, other, theirs)});
}

Status Vigil::Bury(int other) {
  CommFailure death = DeathOf(other);
  Error error(death.code, death.text);
  watch_.Declare(std::move(death));
  return error;
}

Status Vigil::Fail(CommFailure failure) {
  Error error(failure.code, failure.text);
  watch_.Propose(std::move(failure));
  return error;
}

// Who it waits for may itself wait for another: the watch asks around.
void Vigil::Inquire(int suspect) {
  watch_.Inquire(suspect, "operation " + std::to_string(call_.operation) +
                              " (" + Describe(call_) + ") within " +
                              SecondsText(timeout_) + ", --collective-timeout");
}

Status Vigil::AwaitVerdict() {
  watch_.WaitForNews(call_.operation, kVerdictLimit);
  if (std::optional<Status> ended = Ended()) return *std::move(ended);
  // A channel broke whose control connection is whole.
  const std::string text =
      "rank " + std::to_string(rank_) + " lost its connection to another rank";
  watch_.Declare({-1, ErrorCode::kUnavailable, text});
  return Error(ErrorCode::kUnavailable, text);
}

// Whether the operation in hand, or the next one, can no longer succeed.
std::optional<Status> Vigil::Ended() {
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
