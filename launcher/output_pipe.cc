#include "launcher/output_pipe.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace hvd {
namespace {

constexpr int kPipeSize = 256 << 10;

}  // namespace

Result<OutputPipe> MakeOutputPipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error::FromErrno("pipe", errno);
  }
  OutputPipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  // The flag belongs to this end alone; the worker's stays as it was.
  ::fcntl(pipe.read_end.get(), F_SETFL, O_RDONLY | O_NONBLOCK);
  // Refused when the user has many large pipes: the default will do.
  (void)::fcntl(pipe.read_end.get(), F_SETPIPE_SZ, kPipeSize);
  return pipe;
}

std::size_t BytesWaiting(int read_fd) {
  int there = 0;
  ::ioctl(read_fd, FIONREAD, &there);
  return static_cast<std::size_t>(std::max(there, 0));
}

}  // namespace hvd
