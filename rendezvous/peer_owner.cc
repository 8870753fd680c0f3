#include "rendezvous/peer_owner.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/unique_fd.h"

namespace hvd {
namespace {

struct DiagRequest {
  nlmsghdr header{};
  inet_diag_req_v2 body{};
};

// One end of a connection as inet_diag_sockid holds it, in network byte order.
void Fill(const sockaddr_storage& end, __be16& port, __be32* address) {
  if (end.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &end, sizeof v4);
    port = v4.sin_port;
    std::memcpy(address, &v4.sin_addr, sizeof v4.sin_addr);
  } else {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &end, sizeof v6);
    port = v6.sin6_port;
    std::memcpy(address, &v6.sin6_addr, sizeof v6.sin6_addr);
  }
}

// Asks for the very socket whose own address is `peer` and whose peer is
// `local`.
DiagRequest MakeRequest(const sockaddr_storage& local,
                        const sockaddr_storage& peer, std::uint32_t sequence) {
  DiagRequest request;
  request.header.nlmsg_seq = sequence;
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.body.sdiag_family = static_cast<__u8>(peer.ss_family);
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = ~0U;
  inet_diag_sockid& id = request.body.id;
  Fill(peer, id.idiag_sport, &id.idiag_src[0]);
  Fill(local, id.idiag_dport, &id.idiag_dst[0]);
  id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return request;
}

Error NoOwner(const char* why) {
  return {ErrorCode::kUnavailable,
          std::string("owner of the peer's socket: ") + why};
}

constexpr const char* kClosed = "it has closed it already";

Result<uid_t> ParseReply(const char* reply, std::size_t size,
                         std::uint32_t sequence) {
  nlmsghdr header{};
  if (size < sizeof header) return NoOwner("the kernel's answer is cut off");
  std::memcpy(&header, reply, sizeof header);
  const char* body = reply + NLMSG_HDRLEN;
  if (header.nlmsg_seq != sequence) return NoOwner("unreadable answer");
  if (header.nlmsg_type == NLMSG_ERROR) {
    nlmsgerr error{};
    if (size < NLMSG_HDRLEN + sizeof error) return NoOwner("unreadable answer");
    std::memcpy(&error, body, sizeof error);
    if (error.error == -ENOENT) return NoOwner(kClosed);
    return Error::FromErrno("owner of the peer's socket", -error.error);
  }
  inet_diag_msg message{};
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
      size < NLMSG_HDRLEN + sizeof message) {
    return NoOwner("unreadable answer");
  }
  std::memcpy(&message, body, sizeof message);
  // The kernel reports uid 0 for a socket that no process holds any more:
  // without this, anyone could pass for root by closing at once.
  if (message.idiag_inode == 0) return NoOwner(kClosed);
  return message.idiag_uid;
}

}  // namespace

Status PeerOwner::Open() {
  netlink_.Reset(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                          NETLINK_SOCK_DIAG));
  if (!netlink_.valid()) return Error::FromErrno("sock_diag socket", errno);
  return Done{};
}

Result<uid_t> PeerOwner::Find(const sockaddr_storage& local,
                              const sockaddr_storage& peer) {
  if (!netlink_.valid()) {
    const Status open = Open();
    if (!open.ok()) return open.error();
  }
  const DiagRequest request = MakeRequest(local, peer, ++sequence_);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (::sendto(netlink_.get(), &request, sizeof request, 0,
               reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) < 0) {
    return Error::FromErrno("ask sock_diag", errno);
  }
  // The kernel answers within sendto, so the answer is there.
  std::array<char, 1024> reply{};
  const ssize_t n = ::recv(netlink_.get(), reply.data(), reply.size(), 0);
  Result<uid_t> owner =
      n < 0 ? Error::FromErrno("read sock_diag", errno)
            : ParseReply(reply.data(), static_cast<std::size_t>(n), sequence_);
  // Whatever went wrong must not answer the next question.
  if (!owner.ok()) netlink_.Reset();
  return owner;
}

}  // namespace hvd
