#include "discovery/probe_listener.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "base/acceptor.h"
#include "base/check.h"
#include "base/socket_address.h"
#include "discovery/link_answerer.h"
#include "discovery/link_message.h"
#include "discovery/probe_message.h"

namespace hvd {
namespace {

// Both are read before it is known which one it is.
static_assert(kLinkHelloBytes == kProbeChallengeBytes);

std::string LocalAddress(int fd) {
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  const bool known =
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size) == 0;
  return known ? AddressOf(local) : "";
}

class SocketProbeListener : public ProbeListener {
 public:
  SocketProbeListener(EventLoop& loop, Options options, UniqueFd socket)
      : loop_(loop),
        options_(std::move(options)),
        acceptor_(loop, std::move(socket),
                  [this](UniqueFd fd) { Add(std::move(fd)); }) {}

  std::uint16_t port() const override { return BoundPort(acceptor_.fd()); }

 private:
  struct Peer {
    UniqueFd fd;
    std::string challenge;
    bool answered = false;
    std::unique_ptr<Timer> patience;
    std::unique_ptr<FdWatch> readable;  // ends before the descriptor
  };

  void Add(UniqueFd fd) {
    // Who means well is gone within a round trip; the oldest does not.
    if (peers_.size() >= kMaxConnections) peers_.erase(peers_.begin());
    const std::uint64_t id = ++last_id_;
    const int raw = fd.get();
    Peer& peer = peers_[id];
    peer.fd = std::move(fd);
    peer.patience = loop_.After(kPatience, [this, id] { peers_.erase(id); });
    peer.readable = loop_.OnReadable(raw, [this, id] { Read(id); });
  }

  void Read(std::uint64_t id) {
    Peer& peer = peers_.at(id);
    std::array<char, kProbeChallengeBytes> bytes{};
    const std::size_t wanted = bytes.size() - peer.challenge.size();
    // Once answered, it has nothing more to say than that it hangs up.
    const ssize_t n =
        peer.answered ? 0 : ::recv(peer.fd.get(), bytes.data(), wanted, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      peers_.erase(id);
      return;
    }
    peer.challenge.append(bytes.data(), static_cast<std::size_t>(n));
    if (peer.challenge.size() < kProbeChallengeBytes) return;
    if (const auto hello = ParseLinkHello(options_.key, peer.challenge)) {
      return HandOver(id, *hello);
    }
    const auto nonce = ParseProbeChallenge(options_.key, peer.challenge);
    if (!nonce || !Answer(peer, *nonce)) peers_.erase(id);
  }

  void HandOver(std::uint64_t id, const std::string& nonce) {
    peers_.at(id).readable.reset();
    UniqueFd fd = std::move(peers_.at(id).fd);
    peers_.erase(id);
    if (!links_) {
      links_ = LinkAnswerer::Make(loop_, options_.key, options_.identity);
    }
    links_->Take(std::move(fd), nonce);
  }

  // The peer hangs up first, so that no port of a range is left in TIME_WAIT.
  bool Answer(Peer& peer, const std::string& nonce) {
    const std::string answer = FormatProbeAnswer(
        options_.key, nonce, {options_.identity, LocalAddress(peer.fd.get())});
    peer.answered = true;
    // An empty socket buffer has room for it.
    return ::send(peer.fd.get(), answer.data(), answer.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(answer.size());
  }

  EventLoop& loop_;
  const Options options_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Peer> peers_;  // oldest first
  std::unique_ptr<LinkAnswerer> links_;  // once one was asked for
  Acceptor acceptor_;
};

}  // namespace

Result<std::unique_ptr<ProbeListener>> ProbeListener::Listen(EventLoop& loop,
                                                             Options options) {
  HVD_CHECK(!options.identity.empty() &&
            options.identity.size() <= kMaxProbeIdentity);
  Result<UniqueFd> socket =
      ListenInRange(kAllAddresses, options.ports, "probe listener");
  if (!socket.ok()) return std::move(socket).error();
  return std::unique_ptr<ProbeListener>(std::make_unique<SocketProbeListener>(
      loop, std::move(options), std::move(socket).value()));
}

}  // namespace hvd
