// HorovodCaller: tells the notification service in a Horovod worker that the
// hosts have changed.
//
// One call at a time, in the background. A call that fails is no error: the
// worker may be gone, and whoever decided to call will call again. Loop thread
// only.
#pragma once

#include <cstdint>
#include <memory>

#include "base/event_loop.h"
#include "rendezvous/horovod_message.h"

namespace hvd {

class HorovodCaller {
 public:
  explicit HorovodCaller(EventLoop& loop) : loop_(loop) {}
  ~HorovodCaller();
  HorovodCaller(const HorovodCaller&) = delete;
  HorovodCaller& operator=(const HorovodCaller&) = delete;

  // At its addresses in order, until one answers. A call in progress is given
  // up.
  void Call(const HorovodListener& listener);

 private:
  class Attempt;

  EventLoop& loop_;
  // Horovod's own are seconds. Workers only ask which of two is greater, and
  // begin at 0, so a count does, and two changes in one second are two.
  std::int32_t last_timestamp_ = 0;
  // Its handlers may be in flight when it is given up, hence shared.
  std::shared_ptr<Attempt> attempt_;
};

}  // namespace hvd
