// Signals: what the user or the system tells hvdrun, as events on the loop.
//
// Handled here are INT, TERM, HUP (stop), USR1, USR2 (forwarded to workers),
// TSTP and CONT (job control). One that was ignored when hvdrun started stays
// ignored: nohup, and a shell that starts a background job, mean it.
#pragma once

#include <signal.h>

#include <functional>
#include <memory>

#include "base/event_loop.h"
#include "base/unique_fd.h"

namespace hvd {

// Blocks them for this thread and every later one; call first thing in main.
// SIGPIPE is ignored from here on. Children get a clean mask by Spawn().
sigset_t BlockHandledSignals();

class SignalSource {
 public:
  // `on_signal` runs on the loop thread, once for each signal that arrived.
  SignalSource(EventLoop& loop, const sigset_t& handled,
               std::function<void(int signo)> on_signal);

 private:
  void Read();

  std::function<void(int)> on_signal_;
  UniqueFd fd_;
  std::unique_ptr<FdWatch> watch_;
};

}  // namespace hvd
