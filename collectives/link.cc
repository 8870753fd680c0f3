#include "collectives/link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <string>

#include "base/process.h"

namespace hvd {
namespace {

void SetOption(int socket, int level, int option, int value) {
  // A socket of another family has no such option, and needs none.
  (void)::setsockopt(socket, level, option, &value, sizeof(value));
}

}  // namespace

Error LinkCancelled(const LinkIdentity& identity) {
  return {ErrorCode::kCancelled,
          "connecting rank " + std::to_string(identity.from) + " to rank " +
              std::to_string(identity.to) + " was given up"};
}

UniqueFd PeerPidfd(int socket) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 ||
      peer.pid <= 0) {  // 0: it lives in another pid name space
    return UniqueFd();
  }
  Result<UniqueFd> pidfd = OpenPidfd(peer.pid);
  return pidfd.ok() ? std::move(pidfd).value() : UniqueFd();
}

void TuneTcp(int socket) {
  SetOption(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);   // seconds
  SetOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);  // seconds
  SetOption(socket, IPPROTO_TCP, TCP_KEEPCNT, 4);
  SetOption(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 4000);  // milliseconds
}

}  // namespace hvd
