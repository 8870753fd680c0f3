#include "cmd/held_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace hvd {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Result<SocketAddress> ParseLiteral(const std::string& address) {
  SocketAddress parsed;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  if (::inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) {
    std::memcpy(&parsed.storage, &v4, sizeof v4);
    parsed.size = sizeof v4;
    return parsed;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  if (::inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) {
    std::memcpy(&parsed.storage, &v6, sizeof v6);
    parsed.size = sizeof v6;
    return parsed;
  }
  return Error{ErrorCode::kInvalidArgument, address + ": not an IP address"};
}

std::uint16_t PortOf(const sockaddr_storage& storage) {
  // The port stands at the same place in both families.
  sockaddr_in v4{};
  std::memcpy(&v4, &storage, sizeof v4);
  return ntohs(v4.sin_port);
}

}  // namespace

Result<HeldPort> HeldPort::Bind(const std::string& address) {
  Result<SocketAddress> parsed = ParseLiteral(address);
  if (!parsed.ok()) return std::move(parsed).error();
  SocketAddress& local = parsed.value();
  UniqueFd fd(::socket(local.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Error::FromErrno("socket", errno);
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  auto* raw = reinterpret_cast<sockaddr*>(&local.storage);
  if (::bind(fd.get(), raw, local.size) != 0) {
    return Error::FromErrno("bind " + address, errno);
  }
  if (::getsockname(fd.get(), raw, &local.size) != 0) {
    return Error::FromErrno("getsockname", errno);
  }
  return HeldPort(std::move(fd), PortOf(local.storage));
}

}  // namespace hvd
