// RingWatch: the thread "hvd-watch" that keeps an eye on the ring neighbours,
// also while this rank is busy in user code.
//
// It notices a neighbour's death (its connection hangs up, or its process ends
// while a forked child still holds the connection), passes on what the others
// say, and wakes the caller of a collective when the world is dead. What all
// that means is decided by RingVerdict.
//
// Any thread may call any method; the destructor one thread only, last.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "collectives/communicator.h"
#include "collectives/doorbell.h"
#include "collectives/life_mark.h"
#include "collectives/ring_verdict.h"

namespace hvd {

struct Neighbour {
  UniqueFd control;
  UniqueFd pidfd;  // invalid if it lives on another host
};

class RingWatch {
 public:
  RingWatch(int rank, int size, Neighbour left, Neighbour right);
  // Begins. `wake_caller` is called, on the watch's thread, when there is a
  // verdict or a departure. Until then, and not a moment longer than this rank
  // takes part, the thread holds `life`, where the ranks of its host see it
  // (life_mark.h); null: there are no others.
  void Start(std::function<void()> wake_caller,
             std::atomic<std::uint32_t>* life);
  ~RingWatch();
  RingWatch(const RingWatch&) = delete;
  RingWatch& operator=(const RingWatch&) = delete;

  // As RingVerdict's. They return at once; the verdict follows.
  void Propose(CommFailure failure);
  void Declare(CommFailure failure);
  void Inquire(int suspect, std::string missed);
  // This rank is in its `operation`-th call, or was last.
  void Enter(std::uint64_t operation) {
    entered_.store(operation, std::memory_order_relaxed);
  }
  std::uint64_t entered() const { return entered_.load(); }
  // Tells the neighbours; what happens afterwards is no longer watched.
  void Leave(std::uint64_t operations);

  // The verdict, once there is one.
  const CommFailure* failure() const { return failure_.load(); }
  // A verdict is on its way.
  bool pending() const { return pending_.load(); }
  // Until there is a verdict, or a rank is known to have left before
  // `operation`, or `limit` has passed.
  void WaitForNews(std::uint64_t operation, Duration limit);

  struct Departure {
    int rank = 0;
    std::uint64_t operations = 0;  // that it had finished
  };
  // The rank that left first, if it had finished fewer than `operation` calls.
  std::optional<Departure> DepartedBefore(std::uint64_t operation) const;

 private:
  struct Watched {
    Side side;
    Neighbour neighbour;
    std::string received;  // the beginning of a record
    bool gone = false;
  };

  void Post(std::function<void()> task);
  void Run(std::atomic<std::uint32_t>* life);
  void WaitForEvents();
  void RunPosted();
  void ReadRecords(Watched& watched);
  void TakeRecords(Watched& watched);
  void FinishTurn();
  void Publish(const CommFailure& failure);
  void PublishDeparture(Departure first);
  Watched& At(Side side) { return side == Side::kLeft ? left_ : right_; }

  // Watch thread only.
  RingVerdict verdict_;
  Watched left_;
  Watched right_;
  bool left_ring_ = false;
  std::optional<LifeMark> life_;

  std::function<void()> wake_caller_;
  Doorbell wake_;
  std::atomic<bool> pending_{false};
  std::atomic<std::uint64_t> entered_{0};
  std::atomic<bool> stop_{false};
  std::atomic<const CommFailure*> failure_{nullptr};  // null or &*published_

  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::optional<CommFailure> published_;  // guarded by mutex_, set once
  std::optional<Departure> departure_;    // guarded by mutex_
  std::atomic<bool> has_departure_{false};
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace hvd
