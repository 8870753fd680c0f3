#include "collectives/ring_listener.h"

#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <utility>

#include "base/hex.h"
#include "base/random_bytes.h"
#include "base/socket_address.h"
#include "collectives/abstract_address.h"

namespace hvd {
namespace {

Result<UniqueFd> OpenLocalListener(const SocketAddress& address) {
  UniqueFd fd(::socket(address.get()->sa_family,
                       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return Error::FromErrno("socket", errno);
  if (::bind(fd.get(), address.get(), address.size) != 0) {
    return Error::FromErrno("bind", errno);
  }
  if (::listen(fd.get(), SOMAXCONN) != 0) {
    return Error::FromErrno("listen", errno);
  }
  return fd;
}

}  // namespace

std::string HostKeyOf(const std::string& host) {
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string boot_id;
  std::getline(boot, boot_id);
  struct stat name_space {};
  if (::stat("/proc/self/ns/net", &name_space) != 0) name_space.st_ino = 0;
  return host + '/' + boot_id + '/' + std::to_string(name_space.st_ino);
}

Result<RingListener> RingListener::Listen(const std::string& address,
                                          std::string host_key,
                                          const PortRange& ports) {
  RingListener listener;
  listener.endpoint_.host_key = std::move(host_key);
  if (Status status = listener.ListenTcp(address, ports); !status.ok()) {
    return std::move(status).error();
  }
  if (Status status = listener.ListenLocal(); !status.ok()) {
    return std::move(status).error();
  }
  return listener;
}

Status RingListener::ListenTcp(const std::string& address,
                               const PortRange& ports) {
  Result<UniqueFd> fd = ListenInRange(address, ports, "ring listener");
  if (!fd.ok()) return std::move(fd).error();
  tcp_ = std::move(fd).value();
  endpoint_.address = address;
  endpoint_.port = BoundPort(tcp_.get());
  return Done{};
}

Status RingListener::ListenLocal() {
  endpoint_.local_name = "hvd-" + ToHex(RandomBytes(16));
  Result<UniqueFd> fd =
      OpenLocalListener(AbstractAddress(endpoint_.local_name));
  if (!fd.ok()) return std::move(fd).error().Wrap("local ring listener");
  local_ = std::move(fd).value();
  return Done{};
}

}  // namespace hvd
