// StdinRelay: hvdrun's stdin for the one worker that gets it.
//
// What is no terminal (a file, a pipe) is handed over as it is: exact bytes, no
// copy. A terminal can't be: a worker sits in a session of its own, where a
// terminal of another session only gives errors. hvdrun reads it and writes to
// a pipe, and it reads only while it is in the foreground and the terminal is
// in line mode: a pager at the other end of hvdrun's output reads keys itself.
//
// Its reads never block and change nothing of the terminal that others see.
// Nothing waits for it: when the worker has ended, so has its relay.
// Loop thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

// What workers without a stdin get.
Result<UniqueFd> OpenDevNull();

class StdinRelay {
 public:
  // `source_fd` is borrowed.
  StdinRelay(EventLoop& loop, int source_fd);

  // The stdin of the worker about to start; a relay to an earlier one ends.
  // /dev/null if hvdrun has no stdin.
  Result<UniqueFd> Attach();
  // hvdrun got SIGCONT: it may be in the foreground now.
  void OnContinued() { LookAgain(); }

 private:
  Status OpenTerminal();
  void LookAgain();
  void OnReadable();
  void Send();
  void End();
  bool MayRead() const;
  bool InBackground() const;

  EventLoop& loop_;
  int source_fd_;
  UniqueFd terminal_;  // our own open file: its flags are nobody else's
  UniqueFd to_worker_;
  std::string waiting_;  // read, not yet written
  std::unique_ptr<FdWatch> readable_;
  std::unique_ptr<FdWatch> writable_;
  std::unique_ptr<Timer> look_timer_;
};

}  // namespace hvd
