#include "collectives/comm_queue.h"

#include <utility>

#include "collectives/quiet_thread.h"

namespace hvd {

std::optional<Status> PendingCall::WaitUntil(Instant deadline) const {
  std::unique_lock lock(mutex_);
  finished_.wait_until(lock, deadline, [this] { return status_.has_value(); });
  return status_;
}

Status PendingCall::Wait() const {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return status_.has_value(); });
  return *status_;
}

void PendingCall::Finish(Status status) {
  {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
  }
  done_.store(true);
  finished_.notify_all();
}

CommQueue::~CommQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<PendingCall> CommQueue::Issue(Operation operation) {
  auto call = std::make_shared<PendingCall>();
  unfinished_.fetch_add(1);
  {
    const std::lock_guard lock(mutex_);
    entries_.push_back({std::move(operation), call});
  }
  if (!thread_.joinable()) {
    thread_ = StartQuietThread("hvd-comm", [this] { Run(); });
  }
  changed_.notify_all();
  return call;
}

void CommQueue::Drain() {
  if (unfinished_.load() == 0) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return unfinished_.load() == 0; });
}

void CommQueue::Run() {
  for (;;) {
    Entry next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || !entries_.empty(); });
      if (entries_.empty()) return;
      next = std::move(entries_.front());
      entries_.pop_front();
    }
    Status status = next.operation(communicator_);
    {
      const std::lock_guard lock(mutex_);
      unfinished_.fetch_sub(1);
    }
    // Who waits for the call may make the next one himself.
    changed_.notify_all();
    next.call->Finish(std::move(status));
  }
}

}  // namespace hvd
