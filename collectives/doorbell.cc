#include "collectives/doorbell.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/check.h"

namespace hvd {

Doorbell::Doorbell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  HVD_CHECK(fd_.valid());
}

void Doorbell::Ring() const {
  const std::uint64_t one = 1;
  // Fails only when the bell is rung already.
  [[maybe_unused]] const ssize_t n = ::write(fd_.get(), &one, sizeof(one));
}

void Doorbell::Drain() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = ::read(fd_.get(), &count, sizeof(count));
}

Doorbell Doorbell::Share() const {
  return Doorbell(UniqueFd(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 3)));
}

}  // namespace hvd
