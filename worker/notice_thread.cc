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

NoticeThread::NoticeThread(RendezvousClient& client, Epoch epoch,
                           Communicator& communicator)
    : client_(client),
      communicator_(communicator),
      thread_(StartQuietThread("hvd-control", [this, epoch] { Run(epoch); })) {}

NoticeThread::~NoticeThread() {
  stop_.Ring();
  client_.Cancel();
  thread_.join();
}

bool NoticeThread::Pause(Duration pause) const {
  pollfd stop{stop_.fd(), POLLIN, 0};
  return ::poll(&stop, 1, static_cast<int>(pause.count())) == 0;
}

void NoticeThread::Run(Epoch epoch) {
  for (;;) {
    const Result<RendezvousClient::Notice> notice =
        client_.WaitNotice(epoch, SteadyClock().Now() + kPoll);
    if (notice.ok()) return Act(notice.value());
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

void NoticeThread::WaitForNotice(Duration limit) {
  std::unique_lock lock(mutex_);
  heard_changed_.wait_for(lock, limit, [this] { return heard_; });
}

void NoticeThread::Act(const RendezvousClient::Notice& notice) {
  {
    const std::lock_guard lock(mutex_);
    heard_ = true;
  }
  heard_changed_.notify_all();
  if (!Pause(kRingFirst)) return;
  communicator_.Abort({notice.lost_rank, ErrorCode::kUnavailable, notice.text});
}

}  // namespace hvd
