#include "worker/notice_thread.h"

#include <poll.h>

#include <utility>

#include "collectives/quiet_thread.h"

namespace hvd {
namespace {

// One long poll; hvdrun answers at once when there is news.
constexpr Duration kPoll{60'000};
// Between tries while hvdrun cannot be reached.
constexpr Duration kRetry{500};
// For the ring to find out by itself, with the same words on every rank.
constexpr Duration kRingFirst{200};

}  // namespace

NoticeThread::NoticeThread(RendezvousClient& client, Epoch epoch)
    : client_(client),
      thread_(StartQuietThread("hvd-control", [this, epoch] { Run(epoch); })) {}

NoticeThread::~NoticeThread() {
  stop_.Ring();
  client_.Cancel();
  thread_.join();
}

void NoticeThread::Guard(Communicator& communicator) {
  const std::lock_guard lock(mutex_);
  communicator_ = &communicator;
  // The thread may have seen to it already, when there was nothing to end.
  if (loss_) communicator.Declare(*loss_);
}

bool NoticeThread::Pause(Duration pause) const {
  pollfd stop{stop_.fd(), POLLIN, 0};
  return ::poll(&stop, 1, static_cast<int>(pause.count())) == 0;
}

void NoticeThread::Run(Epoch epoch) {
  NoticeKind heard = NoticeKind::kNone;
  for (;;) {
    const Result<WorldNotice> notice = client_.WaitNotice(
        {epoch, heard, Operations()}, SteadyClock().Now() + kPoll);
    if (notice.ok()) {
      heard = notice.value().kind();
      heard_.store(true);
      if (heard != NoticeKind::kHostsChanged) over_.Ring();
      if (const std::optional<int> rank = notice.value().lost_rank) {
        const CommFailure loss{*rank, ErrorCode::kUnavailable,
                               notice.value().text};
        if (!OnLoss(loss, notice.value().silent)) return;
      }
      continue;
    }
    switch (notice.error().code()) {
      case ErrorCode::kTimeout:
        if (!Pause(Duration{0})) return;
        break;
      case ErrorCode::kUnavailable:
      case ErrorCode::kInternal:
        if (!Pause(kRetry)) return;
        break;
      case ErrorCode::kCancelled:
      case ErrorCode::kNotFound:
      case ErrorCode::kInvalidArgument:
        return;
    }
  }
}

std::uint64_t NoticeThread::Operations() {
  const std::lock_guard lock(mutex_);
  return communicator_ == nullptr ? 0 : communicator_->entered();
}

bool NoticeThread::OnLoss(const CommFailure& loss, bool silent) {
  {
    const std::lock_guard lock(mutex_);
    loss_ = loss;
  }
  if (!silent && !Pause(kRingFirst)) return false;
  const std::lock_guard lock(mutex_);
  // All ranks are told the same, and by then none has anything else to say.
  if (communicator_ != nullptr) communicator_->Declare(*loss_);
  return true;
}

}  // namespace hvd
