// RemoteStdin: what goes to an agent's stdin, bit by bit as it is read.
//
// Stays open when all is sent: its end of file means that hvdrun is gone.
// Loop thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/unique_fd.h"

namespace hvd {

class RemoteStdin {
 public:
  // `fd`: the non-blocking end of a pipe.
  RemoteStdin(EventLoop& loop, UniqueFd fd);

  // After all that was given before. A reader that is gone makes it drop
  // everything: the exit of that reader says why.
  void Send(std::shared_ptr<const std::string> bytes);

 private:
  void OnWritable();

  EventLoop& loop_;
  UniqueFd fd_;
  std::deque<std::shared_ptr<const std::string>> queue_;
  std::size_t sent_ = 0;  // of the first
  std::unique_ptr<FdWatch> writable_;
};

}  // namespace hvd
