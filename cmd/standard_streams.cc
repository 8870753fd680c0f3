#include "cmd/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace hvd {
namespace {

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;  // nobody is left to be told
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

void OpenClosedStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is `fd` itself, since all below it are open.
    (void)::open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
}

void WriteStdout(std::string_view text) { WriteAll(STDOUT_FILENO, text); }

void WriteStderr(std::string_view text) { WriteAll(STDERR_FILENO, text); }

}  // namespace hvd
