// Vigil: how the caller of a collective waits, and how it learns that it waits
// in vain.
//
// It looks, yields, sleeps (wait_policy.h), and in between asks whether the
// world has ended, whether a rank has left or died, and whether another rank
// has said something that does not fit the call in progress. After the timeout
// it asks the other ranks who is missing. What any of that means is RingWatch's
// business.
//
// One thread at a time: the one that calls the collective.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "collectives/call.h"
#include "collectives/doorbell.h"
#include "collectives/patience.h"
#include "collectives/ring_watch.h"
#include "collectives/wait_policy.h"

namespace hvd {

class Vigil {
 public:
  // `watch` outlives this. `timeout`: without progress for this long a rank
  // counts as silent.
  Vigil(int rank, RingWatch& watch, Duration timeout)
      : rank_(rank), watch_(watch), timeout_(timeout) {}

  // Looks at all that may come from other ranks for a call that does not fit,
  // and hands it to Check, and for the dead, who go to Bury. Called before a
  // sleep.
  void LookAroundWith(std::function<Status()> look) {
    look_around_ = std::move(look);
  }

  // Begins the next operation. The error of a world that is dead already.
  Status Enter(CallHeader call);
  const CallHeader& call() const { return call_; }
  // The operation in progress is done.
  void Complete() { ++completed_; }
  std::uint64_t completed() const { return completed_; }

  // Waits until `wait` is done; moves what can be moved meanwhile. A Wait has:
  //   bool done() const
  //   Result<bool> Move()             false: nothing could be moved; an error:
  //                                   a connection broke, or Check gave one
  //   void Sleep(Duration at_most)    wakes for what it waits for, or for news
  //   int Suspect() const             the rank it waits for
  template <class Wait>
  Status Until(Wait& wait, const WaitPolicy& policy) {
    Patience patience(timeout_);
    Looking looking(policy);
    while (!wait.done()) {
      const Result<bool> moved = wait.Move();
      if (!moved.ok()) return AwaitVerdict();
      if (moved.value()) {
        looking = Looking(policy);
        continue;
      }
      if (std::optional<Status> ended = Ended()) return *std::move(ended);
      const Instant now = SteadyClock().Now();
      if (looking.first()) patience.Restart(now);
      if (looking.Again(now)) continue;
      if (Status seen = look_around_(); !seen.ok()) return AwaitVerdict();
      Doze(wait, patience);
    }
    return Done{};
  }

  // What rank `other` says it calls, against the call in progress. An error,
  // after which the verdict follows, if it is another one. A rank that has
  // finished this operation may be in the next one already.
  Status Check(int other, const CallHeader& theirs);
  // Rank `other` has died. An error, after which the verdict follows.
  Status Bury(int other);
  // The error that the other ranks get, too, after one that was seen here.
  Status AwaitVerdict();
  // All ranks are to fail with this.
  Status Fail(CommFailure failure);

 private:
  // It looks around again after this, also for the dead, whom nobody wakes it
  // for.
  static constexpr Duration kLongestSleep{10};

  template <class Wait>
  void Doze(Wait& wait, Patience& patience) {
    const Instant before = SteadyClock().Now();
    const std::optional<Duration> slice = patience.NextSlice(before);
    if (!slice) {
      // The verdict wakes this; if the silent one goes on instead, so does it.
      Inquire(wait.Suspect());
      patience.Restart(before);
      return;
    }
    const Duration asked = std::min(*slice, kLongestSleep);
    wait.Sleep(asked);
    patience.Slept(before, SteadyClock().Now(), asked);
  }

  void Inquire(int suspect);
  std::optional<Status> Ended();

  int rank_;
  RingWatch& watch_;
  Duration timeout_;
  std::function<Status()> look_around_ = [] { return Status(Done{}); };
  CallHeader call_;              // in progress, or the last
  std::uint64_t completed_ = 0;  // operations
};

}  // namespace hvd
