#include "base/pipe.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace hvd {

Result<Pipe> MakePipe(OurEnd ours) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error::FromErrno("pipe", errno);
  }
  Pipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  if (ours == OurEnd::kRead) {
    ::fcntl(pipe.read_end.get(), F_SETFL, O_RDONLY | O_NONBLOCK);
  } else {
    ::fcntl(pipe.write_end.get(), F_SETFL, O_WRONLY | O_NONBLOCK);
  }
  return pipe;
}

PipeRead ReadOnce(int fd, const TakeBytes& take) {
  std::array<char, 16384> buffer{};
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  if (n < 0) {
    return errno == EAGAIN || errno == EINTR ? PipeRead::kNothingNow
                                             : PipeRead::kEnd;
  }
  if (n == 0) return PipeRead::kEnd;
  take(std::string_view(buffer.data(), static_cast<std::size_t>(n)));
  return PipeRead::kSome;
}

void DrainPipe(int fd, const TakeBytes& take) {
  int waiting = 0;
  if (fd < 0 || ::ioctl(fd, FIONREAD, &waiting) != 0) return;
  while (waiting > 0) {
    const PipeRead read = ReadOnce(fd, [&](std::string_view bytes) {
      waiting -= static_cast<int>(bytes.size());
      take(bytes);
    });
    if (read != PipeRead::kSome) return;
  }
}

}  // namespace hvd
