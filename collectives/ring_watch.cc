#include "collectives/ring_watch.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "collectives/quiet_thread.h"

namespace hvd {
namespace {

Instant Now() { return SteadyClock().Now(); }

int PollTimeout(std::optional<Instant> deadline) {
  if (!deadline) return -1;  // an event ends it: a neighbour, or wake_
  const auto left = std::chrono::ceil<Duration>(*deadline - Now());
  return static_cast<int>(std::max<Duration::rep>(left.count(), 0));
}

void SendRecord(const Neighbour& neighbour, const RingRecord& record) {
  // At most a few records are ever under way, so the socket has room; and a
  // neighbour that cannot be told any more needs not be told.
  const std::string bytes = EncodeRecord(record);
  [[maybe_unused]] const ssize_t n =
      ::send(neighbour.control.get(), bytes.data(), bytes.size(),
             MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

RingWatch::RingWatch(int rank, int size, Neighbour left, Neighbour right)
    : verdict_(rank, size),
      left_{Side::kLeft, std::move(left), "", false},
      right_{Side::kRight, std::move(right), "", false} {}

void RingWatch::Start(std::function<void()> wake_caller,
                      std::atomic<std::uint32_t>* life) {
  wake_caller_ = std::move(wake_caller);
  thread_ = StartQuietThread("hvd-watch", [this, life] { Run(life); });
}

RingWatch::~RingWatch() {
  stop_.store(true);
  wake_.Ring();
  if (thread_.joinable()) thread_.join();
}

void RingWatch::Propose(CommFailure failure) {
  pending_.store(true);
  Post([this, failure = std::move(failure)] {
    verdict_.Propose(failure, Now());
  });
}

void RingWatch::Declare(CommFailure failure) {
  pending_.store(true);
  Post([this, failure = std::move(failure)] { verdict_.Declare(failure); });
}

void RingWatch::Inquire(int suspect, std::string missed) {
  Post([this, suspect, missed = std::move(missed)] {
    verdict_.Inquire(suspect, missed, Now());
  });
}

void RingWatch::Leave(std::uint64_t operations) {
  Post([this, operations] {
    verdict_.Leave(operations);
    left_ring_ = true;
  });
}

void RingWatch::Post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
  }
  wake_.Ring();
}

void RingWatch::WaitForNews(std::uint64_t operation, Duration limit) {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, limit, [&] {
    return published_ || (departure_ && departure_->operations < operation);
  });
}

std::optional<RingWatch::Departure> RingWatch::DepartedBefore(
    std::uint64_t operation) const {
  if (!has_departure_.load()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (departure_->operations >= operation) return std::nullopt;
  return departure_;
}

void RingWatch::Run(std::atomic<std::uint32_t>* life) {
  if (life != nullptr) life_.emplace(*life);
  while (!verdict_.verdict() && !left_ring_) {
    WaitForEvents();
    // Posted before the stop was asked for, so that a goodbye gets out.
    const bool stopping = stop_.load();
    RunPosted();
    verdict_.OnTime(Now());
    FinishTurn();
    if (stopping) break;
  }
  life_.reset();
}

void RingWatch::WaitForEvents() {
  // A negative descriptor is one that poll passes over.
  const auto fd_of = [](const Watched& w, const UniqueFd& fd) {
    return w.gone ? -1 : fd.get();
  };
  std::array<pollfd, 5> fds{
      pollfd{wake_.fd(), POLLIN, 0},
      pollfd{fd_of(left_, left_.neighbour.control), POLLIN, 0},
      pollfd{fd_of(left_, left_.neighbour.pidfd), POLLIN, 0},
      pollfd{fd_of(right_, right_.neighbour.control), POLLIN, 0},
      pollfd{fd_of(right_, right_.neighbour.pidfd), POLLIN, 0}};
  if (::poll(fds.data(), fds.size(), PollTimeout(verdict_.NextDeadline())) <=
      0) {
    return;  // the time, or a debugger's stop
  }
  if (fds[0].revents != 0) wake_.Drain();
  verdict_.SetEntered(entered_.load());
  // What a neighbour said is heard before its death is noticed.
  const bool left_ended = fds[2].revents != 0;
  const bool right_ended = fds[4].revents != 0;
  if (fds[1].revents != 0 || left_ended) ReadRecords(left_);
  if (fds[3].revents != 0 || right_ended) ReadRecords(right_);
  if (left_ended) left_.gone = true;
  if (right_ended) right_.gone = true;
  if (left_.gone) verdict_.OnGone(Side::kLeft);
  if (right_.gone) verdict_.OnGone(Side::kRight);
}

void RingWatch::RunPosted() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (const auto& task : tasks) task();
}

void RingWatch::ReadRecords(Watched& watched) {
  std::array<char, 4096> buffer{};
  while (!watched.gone) {
    const ssize_t n = ::recv(watched.neighbour.control.get(), buffer.data(),
                             buffer.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n <= 0) {
      watched.gone = true;
      return;
    }
    watched.received.append(buffer.data(), static_cast<std::size_t>(n));
    TakeRecords(watched);
  }
}

void RingWatch::TakeRecords(Watched& watched) {
  for (;;) {
    Result<std::optional<RingRecord>> record = TakeRecord(watched.received);
    if (!record.ok()) {
      watched.gone = true;  // it speaks no language of ours any more
      return;
    }
    if (!record.value()) return;
    verdict_.OnRecord(watched.side, std::move(*record.value()), Now());
  }
}

// The neighbours are told before the caller is: it may end the process at once,
// and then its hang-up must not be the first they hear, nor its mark what they
// see.
void RingWatch::FinishTurn() {
  for (const RingVerdict::Outgoing& out : verdict_.TakeOutgoing()) {
    SendRecord(At(out.to).neighbour, out.record);
  }
  if (verdict_.pending()) pending_.store(true);
  if (verdict_.verdict()) {
    life_.reset();
    return Publish(*verdict_.verdict());
  }
  if (const auto first = verdict_.first_departure()) {
    PublishDeparture({first->first, first->second});
  }
}

void RingWatch::PublishDeparture(Departure first) {
  {
    const std::lock_guard lock(mutex_);
    if (departure_ && departure_->rank == first.rank) return;
    departure_ = first;
  }
  has_departure_.store(true);
  news_.notify_all();
  wake_caller_();
}

void RingWatch::Publish(const CommFailure& failure) {
  {
    const std::lock_guard lock(mutex_);
    published_ = failure;
    failure_.store(&*published_);
  }
  news_.notify_all();
  wake_caller_();
}

}  // namespace hvd
