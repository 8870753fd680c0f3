#include "base/write_all.h"

#include <unistd.h>

#include <cerrno>

namespace hvd {

Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::FromErrno("write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return Done{};
}

}  // namespace hvd
