// EventLoop: one thread that owns all state of a program and sleeps in epoll.
//
// Asio is behind it; only files that speak HTTP see Asio itself, through
// context(). Everything runs on the thread that calls Run(); Post() alone may
// be called from any thread.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"

namespace boost::asio {
class io_context;
}

namespace hvd {

// Cancels on destruction: after ~Timer() returns its function is never called.
class Timer {
 public:
  virtual ~Timer() = default;
};

// Ends on destruction; the descriptor stays open and with its owner, and is
// never made non-blocking. Close it only after its watch is gone.
class FdWatch {
 public:
  virtual ~FdWatch() = default;
  // A paused watch costs nothing and loses nothing: readiness is level.
  virtual void Pause() = 0;
  virtual void Resume() = 0;
};

class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Any thread. `fn` runs on the loop thread, after the current handler.
  void Post(std::function<void()> fn);

  // `fn` runs once, not before `when`, unless the Timer is destroyed first.
  [[nodiscard]] std::unique_ptr<Timer> At(Instant when,
                                          std::function<void()> fn);
  [[nodiscard]] std::unique_ptr<Timer> After(Duration delay,
                                             std::function<void()> fn);

  // `fn` runs whenever `fd` can be read (or written), or is at end of file or
  // in error, until the watch is paused or destroyed. `fn` may destroy it.
  // `fd`: a pipe, socket, terminal, pidfd or the like; not a regular file.
  [[nodiscard]] std::unique_ptr<FdWatch> OnReadable(int fd,
                                                    std::function<void()> fn);
  [[nodiscard]] std::unique_ptr<FdWatch> OnWritable(int fd,
                                                    std::function<void()> fn);

  // Runs handlers until Stop(), sleeping while there are none.
  void Run();
  // Runs handlers until `done()` holds or `limit` has passed; what done() says.
  bool RunUntil(const std::function<bool()>& done, Duration limit);
  void Stop();

  // Monotonic time now.
  Instant Now() const;

  boost::asio::io_context& context();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hvd
