// KeeperChannel: one end of the socket between hvdrun and its keeper.
//
// Frames in order, with descriptors beside some of them. It never blocks and
// waits for nothing: the owner watches the socket and calls Receive() or
// Flush(). The socket's file status flags stay as they are.
//
// Descriptors are attached to the first byte of their frame, so they arrive no
// later than it and in the same order: the reader takes them from the front.
// (unix(7): a read never joins the ancillary data of two writes.)
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "launcher/keeper_protocol.h"

namespace hvd {

class KeeperChannel {
 public:
  explicit KeeperChannel(UniqueFd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }

  // Queues `frame` and writes what the socket takes now. `fds` stay open until
  // they were sent. kUnavailable: the other end is gone.
  Status Send(std::string frame, std::vector<UniqueFd> fds = {});
  Status Flush();
  bool wants_write() const { return !out_.empty(); }

  enum class Received { kBytes, kNothing, kEndOfFile };
  // Reads what is there, at most some 64 KiB a call.
  Result<Received> Receive();
  // As FrameReader::Next.
  Result<std::optional<std::string_view>> NextFrame() { return reader_.Next(); }
  // The next descriptor that arrived, in order; not valid() if there is none.
  UniqueFd TakeFd();

 private:
  struct Outgoing {
    std::string bytes;
    std::size_t sent = 0;
    std::vector<UniqueFd> fds;
  };

  UniqueFd socket_;
  std::deque<Outgoing> out_;
  FrameReader reader_;
  std::deque<UniqueFd> fds_;
};

}  // namespace hvd
