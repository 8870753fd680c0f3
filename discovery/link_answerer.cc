#include "discovery/link_answerer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/random_bytes.h"
#include "discovery/link_message.h"

namespace hvd {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

constexpr std::size_t kReadBytes = 256U << 10U;
// Of one connection, before others get their turn.
constexpr int kReadsATurn = 8;

class SocketLinkAnswerer : public LinkAnswerer {
 public:
  SocketLinkAnswerer(EventLoop& loop, std::string key, std::string identity)
      : loop_(loop), key_(std::move(key)), identity_(std::move(identity)) {}

  void Take(UniqueFd fd, const std::string& nonce) override {
    if (peers_.size() >= kMaxConnections) peers_.erase(peers_.begin());
    const std::uint64_t id = ++last_id_;
    const int raw = fd.get();
    const int on = 1;
    (void)::setsockopt(raw, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const LinkWelcome welcome{RandomBytes(kLinkNonceBytes), identity_};
    Peer& peer = peers_[id];
    peer.fd = std::move(fd);
    peer.link_key = LinkKey(key_, nonce, welcome.nonce);
    peer.patience = loop_.After(kPatience, [this, id] { peers_.erase(id); });
    peer.readable = loop_.OnReadable(raw, [this, id] { Read(id); });
    if (!Say(peer, FormatLinkWelcome(key_, nonce, welcome))) peers_.erase(id);
  }

 private:
  struct Load {
    std::uint64_t limit = 0;
    std::uint64_t bytes = 0;
    Instant begun;
  };
  struct Peer {
    UniqueFd fd;
    std::string link_key;
    std::string frame;  // what is here of the next
    std::uint64_t pings = 0;
    std::optional<Load> load;  // is being counted
    bool receipted = false;    // what still comes is nobody's concern
    std::unique_ptr<Timer> load_end;
    std::unique_ptr<Timer> patience;
    std::unique_ptr<FdWatch> readable;  // ends before the descriptor
  };

  // The peer hangs up first, so that no port of a range is left in TIME_WAIT.
  void Read(std::uint64_t id) {
    Peer& peer = peers_.at(id);
    for (int turn = 0; turn < kReadsATurn; ++turn) {
      const bool in_load = peer.load || peer.receipted;
      const std::size_t wanted =
          in_load ? buffer_.size() : kLinkFrameBytes - peer.frame.size();
      const ssize_t n = ::recv(peer.fd.get(), buffer_.data(), wanted, 0);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
      const auto count = static_cast<std::size_t>(std::max<ssize_t>(n, 0));
      if (n <= 0 || !OnBytes(id, peer, count)) {
        peers_.erase(id);
        return;
      }
    }
  }

  // False: this is no way to talk.
  bool OnBytes(std::uint64_t id, Peer& peer, std::size_t count) {
    if (peer.receipted) return true;
    if (peer.load) {
      peer.load->bytes += count;
      return peer.load->bytes < peer.load->limit || EndLoad(peer);
    }
    peer.frame.append(buffer_.data(), count);
    if (peer.frame.size() < kLinkFrameBytes) return true;
    const auto frame =
        ParseLinkFrame(peer.link_key, std::exchange(peer.frame, {}));
    if (!frame) return false;
    switch (frame->word) {
      case LinkWord::kPing:
        return OnPing(peer, frame->first);
      case LinkWord::kLoad:
        OnLoad(id, peer, *frame);
        return true;
      case LinkWord::kPong:
      case LinkWord::kReceived:
        break;
    }
    return false;
  }

  bool OnPing(Peer& peer, std::uint64_t number) {
    if (number != peer.pings || ++peer.pings > kMaxPings) return false;
    return Say(peer,
               FormatLinkFrame(peer.link_key, {LinkWord::kPong, number, 0}));
  }

  void OnLoad(std::uint64_t id, Peer& peer, const LinkFrame& frame) {
    const auto longest = static_cast<std::uint64_t>(
        duration_cast<microseconds>(kMaxLoadTime).count());
    const microseconds limit(std::min(frame.second, longest));
    peer.load = Load{std::min(frame.first, kMaxLoadBytes), 0, loop_.Now()};
    peer.load_end = loop_.At(peer.load->begun + limit, [this, id] {
      if (!EndLoad(peers_.at(id))) peers_.erase(id);
    });
  }

  bool EndLoad(Peer& peer) {
    const auto took =
        duration_cast<microseconds>(loop_.Now() - peer.load->begun);
    const LinkFrame receipt{LinkWord::kReceived, peer.load->bytes,
                            static_cast<std::uint64_t>(took.count())};
    peer.load.reset();
    peer.receipted = true;
    peer.load_end.reset();
    return Say(peer, FormatLinkFrame(peer.link_key, receipt));
  }

  // What is said is answered before the next, so a socket buffer has room.
  static bool Say(const Peer& peer, const std::string& bytes) {
    return ::send(peer.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }

  EventLoop& loop_;
  const std::string key_;
  const std::string identity_;
  std::vector<char> buffer_ = std::vector<char>(kReadBytes);
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Peer> peers_;  // oldest first
};

}  // namespace

std::unique_ptr<LinkAnswerer> LinkAnswerer::Make(EventLoop& loop,
                                                 std::string key,
                                                 std::string identity) {
  return std::make_unique<SocketLinkAnswerer>(loop, std::move(key),
                                              std::move(identity));
}

}  // namespace hvd
