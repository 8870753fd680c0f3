#include "base/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

namespace hvd {
namespace {

template <class Address>
Address As(const sockaddr_storage& storage) {
  Address address{};
  std::memcpy(&address, &storage, sizeof address);
  return address;
}

template <class Address>
SocketAddress Stored(const Address& address) {
  SocketAddress stored;
  std::memcpy(&stored.storage, &address, sizeof address);
  stored.size = sizeof address;
  return stored;
}

// An IPv4 peer of a socket of both families, as the IPv4 peer that it is.
sockaddr_storage Unmapped(const sockaddr_storage& address) {
  if (address.ss_family != AF_INET6) return address;
  const auto v6 = As<sockaddr_in6>(address);
  if (!IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) return address;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = v6.sin6_port;
  std::memcpy(&v4.sin_addr, &v6.sin6_addr.s6_addr[12], sizeof v4.sin_addr);
  return Stored(v4).storage;
}

}  // namespace

std::optional<SocketAddress> ParseSocketAddress(const std::string& literal,
                                                std::uint16_t port) {
  sockaddr_in v4{};
  if (::inet_pton(AF_INET, literal.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    return Stored(v4);
  }
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET6, literal.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    return Stored(v6);
  }
  return std::nullopt;
}

std::uint16_t PortOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    return ntohs(As<sockaddr_in>(address).sin_port);
  }
  return ntohs(As<sockaddr_in6>(address).sin6_port);
}

std::string AddressOf(const sockaddr_storage& given) {
  const sockaddr_storage address = Unmapped(given);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto v4 = As<sockaddr_in>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  } else {
    const auto v6 = As<sockaddr_in6>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  }
  return text.data();
}

bool IsLoopback(const sockaddr_storage& given) {
  const sockaddr_storage address = Unmapped(given);
  if (address.ss_family == AF_INET) {
    const auto v4 = As<sockaddr_in>(address);
    return (ntohl(v4.sin_addr.s_addr) >> 24U) == IN_LOOPBACKNET;
  }
  const auto v6 = As<sockaddr_in6>(address);
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) != 0;
}

}  // namespace hvd
