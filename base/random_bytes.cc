#include "base/random_bytes.h"

#include <sys/random.h>

#include <cerrno>

#include "base/check.h"

namespace hvd {

std::string RandomBytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t have = 0;
  while (have < count) {
    const ssize_t n = ::getrandom(bytes.data() + have, count - have, 0);
    HVD_CHECK(n > 0 || errno == EINTR);
    if (n > 0) have += static_cast<std::size_t>(n);
  }
  return bytes;
}

}  // namespace hvd
