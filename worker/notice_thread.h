// NoticeThread: the thread "hvd-control", which hears from hvdrun that a rank
// is lost and ends the collectives that wait for it.
//
// The ring itself notices a death sooner where it can; this is for deaths it
// cannot see, on other hosts above all, so it lets the ring speak first.
// hvdrun's own death is no news: the keeper ends this process then.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "collectives/communicator.h"
#include "collectives/doorbell.h"
#include "rendezvous/rendezvous_client.h"

namespace hvd {

class NoticeThread {
 public:
  // All outlive this; `client` serves it alone.
  NoticeThread(RendezvousClient& client, Epoch epoch,
               Communicator& communicator);
  ~NoticeThread();
  NoticeThread(const NoticeThread&) = delete;
  NoticeThread& operator=(const NoticeThread&) = delete;

  // Returns once hvdrun has said that a rank is lost, or after `limit`.
  void WaitForNotice(Duration limit);

 private:
  void Run(Epoch epoch);
  void Act(const RendezvousClient::Notice& notice);
  // False: stop.
  bool Pause(Duration pause) const;

  RendezvousClient& client_;
  Communicator& communicator_;
  Doorbell stop_;
  std::mutex mutex_;
  std::condition_variable heard_changed_;
  bool heard_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace hvd
