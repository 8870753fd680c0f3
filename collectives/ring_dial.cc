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

#include "base/seconds.h"
#include "base/socket_address.h"
#include "collectives/abstract_address.h"
#include "collectives/handshake_io.h"
#include "collectives/ring_link.h"
#include "collectives/shm_channel.h"
#include "collectives/tcp_channel.h"

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

Status WaitFor(int fd, short events, Instant deadline, const LinkPlan& plan) {
  for (;;) {
    const auto left =
        std::chrono::ceil<Duration>(deadline - SteadyClock().Now());
    if (left.count() <= 0) return Error(ErrorCode::kTimeout, "no answer");
    std::array<pollfd, 2> fds{pollfd{plan.cancel_fd, POLLIN, 0},
                              pollfd{fd, events, 0}};
    const int n =
        ::poll(fds.data(), fds.size(), static_cast<int>(left.count()));
    if (n > 0 && fds[0].revents != 0) return LinkCancelled(plan);
    if (n > 0) return Done{};
    if (n < 0 && errno != EINTR) return Error::FromErrno("poll", errno);
  }
}

// One attempt at one connection.
class Dialler {
 public:
  Dialler(const Endpoint& right, const LinkPlan& plan, LinkPurpose purpose)
      : right_(right),
        plan_(plan),
        hello_(MakeHello(plan.identity, purpose)),
        deadline_(
            std::min(plan.deadline, SteadyClock().Now() + kAttemptLimit)) {}

  // `fds` go with the proof; those that came with the answer are appended.
  Result<UniqueFd> Run(std::span<const int> fds,
                       std::vector<UniqueFd>& answered) {
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
    const Proof proof = MakeProof(plan_.key, hello_, challenge);
    if (Status s = SendWithFds(socket_.get(), BytesOf(proof), fds); !s.ok()) {
      return std::move(s).error();
    }
    Accept accept{};
    if (Status s = Receive(accept, answered); !s.ok()) {
      return std::move(s).error();
    }
    if (accept.answer != Answer::kOk) {
      return Error(ErrorCode::kUnavailable, "turned away");
    }
    return std::move(socket_);
  }

 private:
  Status Connect() {
    const std::optional<SocketAddress> address =
        plan_.same_host ? AbstractAddress(right_.local_name)
                        : ParseSocketAddress(right_.address, right_.port);
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
    if (Status s = WaitFor(socket_.get(), POLLOUT, deadline_, plan_); !s.ok()) {
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
      if (Status s = WaitFor(socket_.get(), POLLIN, deadline_, plan_);
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
    if (!IsProven(plan_.key, hello_, challenge)) {
      return Error(ErrorCode::kUnavailable, "it does not hold this job's key");
    }
    return Done{};
  }

  const Endpoint& right_;
  const LinkPlan& plan_;
  Hello hello_;
  Instant deadline_;
  UniqueFd socket_;
};

Result<RightLink> DialLocal(const Endpoint& right, const LinkPlan& plan) {
  Result<UniqueFd> memory = CreateShmRing();
  if (!memory.ok()) return std::move(memory).error();
  const std::array<int, 2> fds{memory.value().get(), plan.doorbell.fd()};
  std::vector<UniqueFd> answered;
  Result<UniqueFd> socket =
      Dialler(right, plan, LinkPurpose::kControl).Run(fds, answered);
  if (!socket.ok()) return std::move(socket).error();
  if (answered.size() != 1) {
    return Error(ErrorCode::kUnavailable, "it sent no doorbell");
  }
  Result<std::unique_ptr<SendChannel>> sender =
      OpenShmSender(memory.value(), Doorbell(std::move(answered[0])));
  if (!sender.ok()) return std::move(sender).error();
  RightLink link;
  link.neighbour.control = std::move(socket).value();
  link.neighbour.pidfd = PeerPidfd(link.neighbour.control.get());
  link.data = std::move(sender).value();
  return link;
}

Result<RightLink> DialTcp(const Endpoint& right, const LinkPlan& plan) {
  std::vector<UniqueFd> none;
  Result<UniqueFd> control =
      Dialler(right, plan, LinkPurpose::kControl).Run({}, none);
  if (!control.ok()) return std::move(control).error();
  Result<UniqueFd> data =
      Dialler(right, plan, LinkPurpose::kData).Run({}, none);
  if (!data.ok()) return std::move(data).error();
  TuneTcp(control.value().get());
  TuneTcp(data.value().get());
  RightLink link;
  link.neighbour.control = std::move(control).value();
  link.data = MakeTcpSender(std::move(data).value());
  return link;
}

std::string Where(const Endpoint& right, const LinkPlan& plan) {
  if (plan.same_host) return "in shared memory";
  return "at " + right.address + " port " + std::to_string(right.port);
}

}  // namespace

Result<RightLink> DialRight(const Endpoint& right, const LinkPlan& plan) {
  std::string reason;
  for (;;) {
    Result<RightLink> link =
        plan.same_host ? DialLocal(right, plan) : DialTcp(right, plan);
    if (link.ok() || link.error().code() == ErrorCode::kCancelled) return link;
    // An attempt that the deadline cut short knows less than the one before.
    if (reason.empty() || link.error().code() != ErrorCode::kTimeout) {
      reason = link.error().message();
    }
    if (SteadyClock().Now() + kPause >= plan.deadline) {
      return Error(ErrorCode::kTimeout,
                   "cannot reach rank " + std::to_string(plan.identity.to) +
                       " " + Where(right, plan) + ": " + reason);
    }
    pollfd cancel{plan.cancel_fd, POLLIN, 0};
    if (::poll(&cancel, 1, static_cast<int>(kPause.count())) > 0) {
      return LinkCancelled(plan);
    }
  }
}

}  // namespace hvd
