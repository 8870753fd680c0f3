#include "base/port_range.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "base/random_bytes.h"
#include "base/socket_address.h"

namespace hvd {
namespace {

enum class Use { kListen, kHold };
enum class OldConnections { kRespected, kIgnored };

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [at, ec] = std::from_chars(text.data(), end, port);
  if (ec != std::errc{} || at != end || port == 0) return std::nullopt;
  return port;
}

void SetOption(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

// 0, or errno.
int BindAt(const UniqueFd& fd, const SocketAddress& at, Use use,
           OldConnections old) {
  const bool reuse = old == OldConnections::kIgnored;
  SetOption(fd.get(), SOL_SOCKET, SO_REUSEADDR, reuse ? 1 : 0);
  if (::bind(fd.get(), at.get(), at.size) != 0) return errno;
  // Only now, so that no two of us get one port. Whoever is to have a held port
  // can bind beside it; and connections inherit it, without which they would
  // keep the port for a minute after their end.
  SetOption(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (use == Use::kHold) return 0;
  return ::listen(fd.get(), SOMAXCONN) == 0 ? 0 : errno;
}

// A fresh socket a try: one that was bound cannot be bound again.
int TryPort(const std::string& address, std::uint16_t port, Use use,
            OldConnections old, UniqueFd& fd) {
  const auto at = ParseSocketAddress(address, port);
  if (!at) return EINVAL;
  const int family = at->storage.ss_family;
  fd.Reset(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return errno;
  if (family == AF_INET6) {
    const bool all = address == kAllAddresses;
    SetOption(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, all ? 0 : 1);
  }
  return BindAt(fd, *at, use, old);
}

std::size_t RandomBelow(std::size_t limit) {
  std::uint32_t number = 0;
  std::memcpy(&number, RandomBytes(sizeof number).data(), sizeof number);
  return number % limit;
}

// Local ports of connections, of which the kernel keeps those that have ended
// for a minute. A port that somebody holds without listening has none.
std::set<std::uint16_t> PortsOfConnections() {
  std::set<std::uint16_t> ports;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream table(path);
    std::string line;
    std::getline(table, line);  // the names of the columns
    while (std::getline(table, line)) {
      std::istringstream words(line);
      std::string number;
      std::string local;  // 0100007F:1F90
      words >> number >> local;
      const std::size_t colon = local.find(':');
      if (colon == std::string::npos) continue;
      const unsigned long port =
          std::strtoul(local.c_str() + colon + 1, nullptr, 16);
      ports.insert(static_cast<std::uint16_t>(port));
    }
  }
  return ports;
}

// The last error when all ports were refused.
int TryAll(const std::string& address, const PortRange& range, Use use,
           OldConnections old, UniqueFd& fd) {
  const std::set<std::uint16_t> used = old == OldConnections::kIgnored
                                           ? PortsOfConnections()
                                           : std::set<std::uint16_t>{};
  const std::size_t count = std::size_t{range.last} - range.first + 1U;
  const std::size_t start = RandomBelow(count);
  int failed = EADDRINUSE;
  for (std::size_t i = 0; i < count; ++i) {
    const auto port =
        static_cast<std::uint16_t>(range.first + (start + i) % count);
    if (old == OldConnections::kIgnored && !used.contains(port)) continue;
    failed = TryPort(address, port, use, old, fd);
    // Anything else is not the port's fault; a privileged one is.
    if (failed != EADDRINUSE && failed != EACCES) return failed;
  }
  return failed;
}

bool HasIpv6() {
  const UniqueFd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd.valid() || errno != EAFNOSUPPORT;
}

Result<UniqueFd> Take(const std::string& wanted, const PortRange& range,
                      std::string_view what, Use use) {
  const std::string address =
      wanted == kAllAddresses && !HasIpv6() ? "0.0.0.0" : wanted;
  const std::string where = std::string(what) + " on " + address;
  if (!ParseSocketAddress(address, 0)) {
    return Error(ErrorCode::kInvalidArgument,
                 std::string(what) + ": " + address + ": not an IP address");
  }
  UniqueFd fd;
  if (range.any()) {
    const int failed = TryPort(address, 0, use, OldConnections::kRespected, fd);
    if (failed != 0) return Error::FromErrno(where, failed);
    return fd;
  }
  int failed = TryAll(address, range, use, OldConnections::kRespected, fd);
  // Not to hold one: two that ignore old connections could hold the same.
  if (failed == EADDRINUSE && use == Use::kListen) {
    failed = TryAll(address, range, use, OldConnections::kIgnored, fd);
  }
  if (failed == 0) return fd;
  if (failed == EADDRINUSE) {
    return Error(ErrorCode::kUnavailable,
                 where + ": no free port in " + ToString(range))
        .WithHint("--port-range needs more ports, or other programs fewer");
  }
  return Error::FromErrno(where + " port range " + ToString(range), failed);
}

}  // namespace

Result<PortRange> ParsePortRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = ParsePort(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : ParsePort(text.substr(dash + 1));
  if (!first || !last) {
    return Error(ErrorCode::kInvalidArgument,
                 "must be two ports from 1 to 65535, such as 40000-40099");
  }
  if (*first > *last) {
    return Error(ErrorCode::kInvalidArgument, "must begin with the lower port");
  }
  return PortRange{*first, *last};
}

std::string ToString(const PortRange& range) {
  if (range.any()) return "";
  if (range.first == range.last) return std::to_string(range.first);
  return std::to_string(range.first) + '-' + std::to_string(range.last);
}

Result<UniqueFd> ListenInRange(const std::string& address,
                               const PortRange& range, std::string_view what) {
  return Take(address, range, what, Use::kListen);
}

Result<UniqueFd> HoldInRange(const std::string& address, const PortRange& range,
                             std::string_view what) {
  return Take(address, range, what, Use::kHold);
}

std::uint16_t BoundPort(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  const bool known =
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) == 0;
  return known ? PortOf(bound) : std::uint16_t{0};
}

}  // namespace hvd
