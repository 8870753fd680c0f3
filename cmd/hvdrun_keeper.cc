// hvdrun-keeper: starts and reaps workers; see launcher/keeper.h.
//
// Started by hvdrun with one end of a socket pair as descriptor 0; never by a
// person.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>

#include "base/unique_fd.h"
#include "launcher/keeper.h"

namespace {

bool IsSocket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

}  // namespace

int main() {
  if (!IsSocket(STDIN_FILENO)) {
    std::fputs("hvdrun-keeper: it is started by hvdrun, not by hand\n", stderr);
    return 125;
  }
  hvd::UniqueFd socket(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const hvd::UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!socket.valid() || !null.valid()) return 125;
  ::dup2(null.get(), STDIN_FILENO);
  // A reader of hvdrun's output gets its end of file when hvdrun is gone.
  ::dup2(null.get(), STDOUT_FILENO);
  return hvd::RunKeeper(std::move(socket));
}
