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

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

class OutputTarget;  // one descriptor and what waits for it

class OutputWriter {
 public:
  struct Handlers {
    // The queue has fallen under half of what Full() is.
    std::function<void()> on_space;
    // A write failed; `name` as given to AddTarget.
    std::function<void(const std::string& name, Error)> on_broken;
    // Everything is written, or can't be.
    std::function<void()> on_empty;
  };

  // The thread starts with the first byte.
  OutputWriter(EventLoop& loop, std::size_t full, Handlers handlers);
  // Waits up to `patience` for what is queued, then leaves the rest. A thread
  // that sits in a write nobody reads is left behind with its own state; it
  // ends with the process.
  ~OutputWriter();
  OutputWriter(const OutputWriter&) = delete;
  OutputWriter& operator=(const OutputWriter&) = delete;
  void set_patience(Duration patience) { patience_ = patience; }

  // `fd` stays the caller's, and open.
  std::shared_ptr<OutputTarget> Borrow(int fd, std::string name);
  // Closed once its last byte is written and the caller has let go of it.
  std::shared_ptr<OutputTarget> Own(UniqueFd fd, std::string name);

  void Write(const std::shared_ptr<OutputTarget>& target,
             std::string_view bytes);
  // Drops what is queued. If a target was cut inside a line, its next bytes
  // start a new one.
  void DropQueued();

  std::size_t queued() const;  // the bytes being written included
  bool Full() const { return queued() >= full_; }

 private:
  struct Shared;
  void StartThread();

  std::shared_ptr<Shared> shared_;  // outlives this where the thread does
  std::size_t full_;
  Duration patience_{0};
  bool started_ = false;
};

}  // namespace hvd
