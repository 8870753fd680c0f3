#include "cmd/carried_keeper.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

// clang-format off
__asm__(".section .rodata\n"
        ".global hvd_keeper_begin\n"
        ".global hvd_keeper_end\n"
        "hvd_keeper_begin:\n"
        ".incbin \"" HVD_KEEPER_FILE "\"\n"
        "hvd_keeper_end:\n"
        ".byte 0\n"
        ".previous\n");
// clang-format on

extern "C" const char hvd_keeper_begin[];
extern "C" const char hvd_keeper_end[];

namespace hvd {

Result<UniqueFd> OpenCarriedKeeper() {
  UniqueFd fd(::memfd_create("hvdrun-keeper", MFD_CLOEXEC));
  if (!fd.valid()) return Error::FromErrno("memfd_create", errno);
  const char* next = hvd_keeper_begin;
  while (next < hvd_keeper_end) {
    const ssize_t n = ::write(fd.get(), next,
                              static_cast<std::size_t>(hvd_keeper_end - next));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::FromErrno("write the keeper to memory", errno);
    next += n;
  }
  return fd;
}

std::string PathOfCarriedKeeper(const UniqueFd& fd) {
  // Not /proc/self: the child is another self.
  return "/proc/" + std::to_string(::getpid()) + "/fd/" +
         std::to_string(fd.get());
}

}  // namespace hvd
