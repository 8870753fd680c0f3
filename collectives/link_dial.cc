#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/socket_address.h"
#include "collectives/abstract_address.h"
#include "collectives/handshake_io.h"
#include "collectives/link.h"

namespace hvd {
namespace {

// After which a silent listener is dialled anew: whatever answered may have
// been a stranger.
constexpr Duration kAttemptLimit{5000};
constexpr Duration kPause{10};  // between attempts

template <class T>
std::string_view BytesOf(const T& message) {
  return {reinterpret_cast<const char*>(&message), sizeof(message)};
}

Status WaitFor(int fd, short events, Instant deadline, const LinkWanted& wanted,
               const LinkTerms& terms) {
  for (;;) {
    const auto left =
        std::chrono::ceil<Duration>(deadline - SteadyClock().Now());
    if (left.count() <= 0) return Error(ErrorCode::kTimeout, "no answer");
    std::array<pollfd, 2> fds{pollfd{terms.cancel_fd, POLLIN, 0},
                              pollfd{fd, events, 0}};
    const int n =
        ::poll(fds.data(), fds.size(), static_cast<int>(left.count()));
    if (n > 0 && fds[0].revents != 0) return LinkCancelled(wanted.identity);
    if (n > 0) return Done{};
    if (n < 0 && errno != EINTR) return Error::FromErrno("poll", errno);
  }
}

// One attempt at one connection.
class Dialler {
 public:
  Dialler(const Endpoint& to, const LinkWanted& wanted, const LinkTerms& terms)
      : to_(to),
        wanted_(wanted),
        terms_(terms),
        hello_(MakeHello(wanted.identity, wanted.purpose)),
        deadline_(
            std::min(terms.deadline, SteadyClock().Now() + kAttemptLimit)) {}

  Result<Link> Run() {
    std::vector<UniqueFd> answered;
    if (Status s = Connect(); !s.ok()) return std::move(s).error();
    if (Status s = SendWithFds(socket_.get(), BytesOf(hello_), {}); !s.ok()) {
      return std::move(s).error();
    }
    Challenge challenge{};
    if (Status s = Receive(challenge, answered); !s.ok()) {
      return std::move(s).error();
    }
    if (Status s = CheckChallenge(challenge); !s.ok()) {
      return std::move(s).error();
    }
    const Proof proof = MakeProof(terms_.key, hello_, challenge);
    if (Status s = SendWithFds(socket_.get(), BytesOf(proof), wanted_.fds);
        !s.ok()) {
      return std::move(s).error();
    }
    Accept accept{};
    if (Status s = Receive(accept, answered); !s.ok()) {
      return std::move(s).error();
    }
    if (accept.answer != Answer::kOk) {
      return Error(ErrorCode::kUnavailable, "turned away");
    }
    if (!wanted_.same_host) TuneTcp(socket_.get());
    return Link{std::move(socket_), std::move(answered)};
  }

 private:
  Status Connect() {
    const std::optional<SocketAddress> address =
        wanted_.same_host ? AbstractAddress(to_.local_name)
                          : ParseSocketAddress(to_.address, to_.port);
    if (!address) {
      return Error(ErrorCode::kInvalidArgument, "not an IP address");
    }
    socket_.Reset(::socket(address->get()->sa_family,
                           SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket_.valid()) return Error::FromErrno("socket", errno);
    if (::connect(socket_.get(), address->get(), address->size) == 0) {
      return Done{};
    }
    if (errno != EINPROGRESS) return Error::FromErrno("connect", errno);
    return FinishConnect();
  }

  Status FinishConnect() {
    if (Status s = WaitFor(socket_.get(), POLLOUT, deadline_, wanted_, terms_);
        !s.ok()) {
      return s;
    }
    int err = 0;
    socklen_t length = sizeof(err);
    if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &err, &length) != 0) {
      err = errno;
    }
    if (err != 0) return Error::FromErrno("connect", err);
    return Done{};
  }

  template <class T>
  Status Receive(T& message, std::vector<UniqueFd>& fds) {
    std::array<char, sizeof(T)> bytes{};
    std::size_t at = 0;
    while (at < bytes.size()) {
      if (Status s = WaitFor(socket_.get(), POLLIN, deadline_, wanted_, terms_);
          !s.ok()) {
        return s;
      }
      const Result<std::size_t> n =
          ReceiveWithFds(socket_.get(), std::span(bytes).subspan(at), fds);
      if (!n.ok()) return n.error();
      at += n.value();
    }
    std::memcpy(&message, bytes.data(), bytes.size());
    return Done{};
  }

  Status CheckChallenge(const Challenge& challenge) const {
    if (challenge.answer != Answer::kOk) {
      return Error(ErrorCode::kUnavailable, "it is not in this world");
    }
    if (!IsProven(terms_.key, hello_, challenge)) {
      return Error(ErrorCode::kUnavailable, "it does not hold this job's key");
    }
    return Done{};
  }

  const Endpoint& to_;
  const LinkWanted& wanted_;
  const LinkTerms& terms_;
  Hello hello_;
  Instant deadline_;
  UniqueFd socket_;
};

std::string Where(const Endpoint& to, const LinkWanted& wanted) {
  if (wanted.same_host) return "in shared memory";
  return "at " + to.address + " port " + std::to_string(to.port);
}

}  // namespace

Result<Link> DialLink(const Endpoint& to, const LinkWanted& wanted,
                      const LinkTerms& terms) {
  std::string reason;
  for (;;) {
    Result<Link> link = Dialler(to, wanted, terms).Run();
    if (link.ok() || link.error().code() == ErrorCode::kCancelled) return link;
    // An attempt that the deadline cut short knows less than the one before.
    if (reason.empty() || link.error().code() != ErrorCode::kTimeout) {
      reason = link.error().message();
    }
    if (SteadyClock().Now() + kPause >= terms.deadline) {
      return Error(ErrorCode::kTimeout,
                   "cannot reach rank " + std::to_string(wanted.identity.to) +
                       " " + Where(to, wanted) + ": " + reason);
    }
    pollfd cancel{terms.cancel_fd, POLLIN, 0};
    if (::poll(&cancel, 1, static_cast<int>(kPause.count())) > 0) {
      return LinkCancelled(wanted.identity);
    }
  }
}

}  // namespace hvd
