// Doorbell: an eventfd that wakes one sleeping thread, also of another process.
//
// Ring() may be called from any thread or signal handler; the rest from the
// thread that sleeps on it.
#pragma once

#include "base/unique_fd.h"

namespace hvd {

class Doorbell {
 public:
  Doorbell();
  // A doorbell whose descriptor came from another process.
  explicit Doorbell(UniqueFd fd) : fd_(std::move(fd)) {}

  void Ring() const;
  void Drain() const;
  int fd() const { return fd_.get(); }
  // Another descriptor of the same bell, to hand to another process.
  Doorbell Share() const;

 private:
  UniqueFd fd_;
};

}  // namespace hvd
