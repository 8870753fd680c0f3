// Acceptor: takes connections from a listening socket as they come.
//
// When the process has run out of descriptors or memory it rests for a moment
// instead of being told of the same connection for ever. Loop thread only;
// `take` runs on the loop and may not destroy this.
#pragma once

#include <functional>
#include <memory>

#include "base/event_loop.h"
#include "base/unique_fd.h"

namespace hvd {

class Acceptor {
 public:
  // `listening` is non-blocking, and so is what `take` gets.
  Acceptor(EventLoop& loop, UniqueFd listening,
           std::function<void(UniqueFd)> take);
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  int fd() const { return listening_.get(); }

 private:
  void Accept();
  void Rest();

  EventLoop& loop_;
  UniqueFd listening_;
  std::function<void(UniqueFd)> take_;
  std::unique_ptr<FdWatch> readable_;  // ends before the descriptor
  std::unique_ptr<Timer> rest_;
};

}  // namespace hvd
