// BlockedSignal: one signal is kept from this thread while it lives.
//
// For a call that would raise it in its own thread (SIGPIPE by a write, SIGTTIN
// by a read): the call then fails with an errno, and nothing about the whole
// process is changed.
#pragma once

namespace hvd {

class BlockedSignal {
 public:
  explicit BlockedSignal(int signo);
  // Takes away the signal if the call raised it.
  ~BlockedSignal();
  BlockedSignal(const BlockedSignal&) = delete;
  BlockedSignal& operator=(const BlockedSignal&) = delete;

 private:
  int signo_;
  bool was_blocked_ = false;
  bool was_pending_ = false;
};

}  // namespace hvd
