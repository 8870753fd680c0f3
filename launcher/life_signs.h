// LifeSigns: says that this end of a connection is alive, and finds out when
// the other end is not: a host that froze or lost its cable closes nothing.
//
// Loop thread only. `on_silent` runs at most once, and may destroy this.
#pragma once

#include <functional>
#include <memory>

#include "base/event_loop.h"

namespace hvd {

class LifeSigns {
 public:
  // `say` is called every `limit` / 5. `on_silent`: nothing was heard for
  // `limit`, in time that this program ran: after it was stopped itself
  // (Ctrl-Z) or the machine slept, the other end gets its time anew.
  LifeSigns(EventLoop& loop, Duration limit, std::function<void()> say,
            std::function<void()> on_silent);

  void Heard();
  // The other end will say nothing for a while, on purpose: its silence counts
  // from when it is next heard.
  void ExpectSilence() { expects_silence_ = true; }
  bool expects_silence() const { return expects_silence_; }

 private:
  void LookLater();
  void Look();

  EventLoop& loop_;
  Duration limit_;
  std::function<void()> say_;
  std::function<void()> on_silent_;
  Instant heard_;
  Instant said_;
  Instant looked_;
  bool expects_silence_ = false;
  std::unique_ptr<Timer> next_;
};

}  // namespace hvd
