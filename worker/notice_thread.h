// NoticeThread: the thread "hvd-control", which hears from hvdrun what becomes
// of one world, from the moment that world was handed out.
//
// When a rank is lost it ends the collectives that wait for it. The ring itself
// notices a death sooner where it can; this is for deaths it cannot see, on
// other hosts above all, so it lets the ring speak first. That the hosts have
// changed ends nothing: it is remembered until the program asks.
// After the worst there is nothing more to hear, but its questions tell hvdrun
// that this worker is there, and in which collective, while the program is busy
// with something else.
// hvdrun's own death is no news: the keeper ends this process then.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "collectives/communicator.h"
#include "collectives/doorbell.h"
#include "rendezvous/rendezvous_client.h"

namespace hvd {

class NoticeThread {
 public:
  // `client` outlives this and serves it alone.
  NoticeThread(RendezvousClient& client, Epoch epoch);
  ~NoticeThread();
  NoticeThread(const NoticeThread&) = delete;
  NoticeThread& operator=(const NoticeThread&) = delete;

  // Readable once a ring of this world is not worth forming: a rank is lost, or
  // there is a newer world. It stays so.
  int over_fd() const { return over_.fd(); }
  // From now on a lost rank ends the calls of `communicator`, which outlives
  // this.
  void Guard(Communicator& communicator);

  // Any thread. Something was heard: a new world is there or being made.
  bool heard() const { return heard_.load(); }

 private:
  void Run(Epoch epoch);
  std::uint64_t Operations();
  // False: stop.
  bool OnLoss(const CommFailure& loss, bool silent);
  bool Pause(Duration pause) const;

  RendezvousClient& client_;
  Doorbell stop_;
  Doorbell over_;
  std::atomic<bool> heard_{false};
  std::mutex mutex_;
  std::optional<CommFailure> loss_;       // guarded by mutex_
  Communicator* communicator_ = nullptr;  // guarded by mutex_
  std::thread thread_;                    // last: uses all the others
};

}  // namespace hvd
