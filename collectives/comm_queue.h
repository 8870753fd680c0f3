// CommQueue: collectives that were issued without waiting, done in that order
// on the thread "hvd-comm".
//
// Whoever makes a call of its own on the communicator drains the queue first:
// ranks must make the same calls in the same order. One thread issues; a
// PendingCall may be looked at from any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "collectives/communicator.h"

namespace hvd {

// Outlives its queue, if need be.
class PendingCall {
 public:
  bool done() const { return done_.load(); }
  // What became of it; nullopt: not done by `deadline`.
  std::optional<Status> WaitUntil(Instant deadline) const;
  Status Wait() const;

 private:
  friend class CommQueue;
  void Finish(Status status);

  mutable std::mutex mutex_;
  mutable std::condition_variable finished_;
  std::optional<Status> status_;  // guarded by mutex_
  std::atomic<bool> done_{false};
};

class CommQueue {
 public:
  using Operation = std::function<Status(Communicator&)>;

  // `communicator` outlives this.
  explicit CommQueue(Communicator& communicator)
      : communicator_(communicator) {}
  // Does what is left to do, which is quick on a dead communicator.
  ~CommQueue();
  CommQueue(const CommQueue&) = delete;
  CommQueue& operator=(const CommQueue&) = delete;

  std::shared_ptr<PendingCall> Issue(Operation operation);
  // Until all that was issued is done.
  void Drain();

 private:
  struct Entry {
    Operation operation;
    std::shared_ptr<PendingCall> call;
  };
  void Run();

  Communicator& communicator_;
  std::atomic<std::size_t> unfinished_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;  // guarded by mutex_
  bool stop_ = false;          // guarded by mutex_
  std::thread thread_;         // from the first call on
};

}  // namespace hvd
