// SocketAddress: an IP literal and a port as the kernel wants them. No names
// are resolved. Pure.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

namespace hvd {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
};

// IPv4 or IPv6; nullopt for anything else.
std::optional<SocketAddress> ParseSocketAddress(const std::string& literal,
                                                std::uint16_t port);
std::uint16_t PortOf(const sockaddr_storage& address);
// The literal, without the port; "10.0.0.1" also where a socket of both
// families says "::ffff:10.0.0.1".
std::string AddressOf(const sockaddr_storage& address);
bool IsLoopback(const sockaddr_storage& address);

}  // namespace hvd
