#include "collectives/abstract_address.h"

#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "base/check.h"

namespace hvd {

SocketAddress AbstractAddress(const std::string& name) {
  sockaddr_un un{};
  HVD_CHECK(name.size() < sizeof(un.sun_path) - 1);
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path + 1, name.data(), name.size());
  SocketAddress result;
  std::memcpy(&result.storage, &un, sizeof(un));
  result.size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return result;
}

}  // namespace hvd
