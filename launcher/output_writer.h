// OutputWriter: a thread that does blocking writes, so that the loop does none.
//
// It owns a queue of bytes for each target and writes them in order, as many at
// a time as there are. A target that fails once is broken: the rest of its
// bytes are dropped. The descriptors are used as they are, blocking or not, and
// nothing about them is changed.
//
// All methods: loop thread. Handlers run on the loop, never after destruction.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

class OutputTarget;  // one descriptor and what waits for it

class OutputWriter {
 public:
  struct Handlers {
    // The queue, once Full(), has fallen under half of that.
    std::function<void()> on_space = {};
    // The first failed write of a target; `name` as given with it.
    std::function<void(const std::string& name, Error)> on_broken = {};
    // After NotifyWhenEmpty(): everything is written, or can't be.
    std::function<void()> on_empty = {};
  };

  // The thread starts with the first byte.
  OutputWriter(EventLoop& loop, std::size_t full, Handlers handlers);
  // Waits up to `patience` for what is queued, then leaves the rest. A thread
  // that sits in a write which nobody reads is left behind with its own state;
  // it ends with the process.
  ~OutputWriter();
  OutputWriter(const OutputWriter&) = delete;
  OutputWriter& operator=(const OutputWriter&) = delete;
  void set_patience(Duration patience) { patience_ = patience; }

  // `fd` stays the caller's, and open as long as the thread may write.
  std::shared_ptr<OutputTarget> Borrow(int fd, std::string name);
  std::shared_ptr<OutputTarget> Own(UniqueFd fd, std::string name);

  void Write(const std::shared_ptr<OutputTarget>& target,
             std::string_view bytes);
  // The same without a copy where it can be; `bytes` is empty afterwards.
  void Hand(const std::shared_ptr<OutputTarget>& target, std::string& bytes);
  // What comes next starts a line, with a newline in front if need be.
  void StartLine(const std::shared_ptr<OutputTarget>& target);
  // Drops what is queued; what comes next starts a line.
  void DropQueued();
  void NotifyWhenEmpty();

  std::size_t queued() const;  // the bytes being written included
  std::size_t full() const { return full_; }
  bool Full() const { return queued() >= full_; }

 private:
  struct Shared;
  // Starts the thread with the first byte and wakes it if it sleeps.
  void Wake();

  // Shared with the thread, which outlives this when it is stuck.
  std::shared_ptr<Shared> shared_;
  std::size_t full_;
  Duration patience_{0};
  std::thread thread_;
};

}  // namespace hvd
