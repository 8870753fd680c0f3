// ByteSink: writes pieces into the pipes they are for, one after another.
//
// While a piece does not fit, no other is taken: a reader that does not read
// holds up the pieces behind it, and whoever sends them, but nothing else.
// Pieces for a stream that is not here, or that nobody reads any more, are
// dropped.
//
// Loop thread only. Nothing is called from inside a call here.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/event_loop.h"
#include "base/unique_fd.h"
#include "launcher/worker_bytes.h"

namespace hvd {

class ByteSink {
 public:
  // `on_taken`: the piece that did not fit has been written or dropped.
  // `on_unread`: nobody reads this stream any more.
  ByteSink(EventLoop& loop, std::function<void()> on_taken,
           std::function<void(WorkerStream)> on_unread);

  // The write end of a pipe; it becomes non-blocking.
  void Add(WorkerStream stream, UniqueFd write_end);
  // Closes it, with what has not been written.
  void Remove(WorkerStream stream);

  // True: taken whole. False: it waits, and on_taken follows.
  bool Write(WorkerBytes piece);

 private:
  bool Continue();

  EventLoop& loop_;
  std::function<void()> on_taken_;
  std::function<void(WorkerStream)> on_unread_;
  std::map<WorkerStream, UniqueFd> streams_;
  std::optional<WorkerBytes> waiting_;
  std::size_t written_ = 0;  // of it
  std::unique_ptr<FdWatch> writable_;
  std::unique_ptr<Timer> later_;
};

}  // namespace hvd
