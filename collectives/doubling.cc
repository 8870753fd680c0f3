#include "collectives/doubling.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "collectives/copy_bytes.h"
#include "collectives/reduce_kernels.h"

namespace hvd {
namespace {

// What a call to send or receive has moved: 0 if it would block.
Result<std::size_t> Moved(ssize_t n, bool receiving) {
  if (n > 0 || (n == 0 && !receiving)) return static_cast<std::size_t>(n);
  if (n == 0) return Error(ErrorCode::kUnavailable, "partner closed");
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    return std::size_t{0};
  }
  return Error::FromErrno("exchange with partner", errno);
}

}  // namespace

// One message each way at once, as Vigil::Until wants it.
class Doubling::Exchange {
 public:
  Exchange(Doubling& owner, int host, std::size_t to_send,
           std::size_t to_receive)
      : owner_(owner),
        socket_(owner.parts_.sockets.at(host).get()),
        rank_(owner.RankOf(host)),
        to_send_(to_send),
        to_receive_(to_receive) {}

  bool done() const { return sent_ == to_send_ && received_ == to_receive_; }
  int Suspect() const { return rank_; }

  Result<bool> Move() {
    Result<std::size_t> sent = Send();
    if (!sent.ok()) return sent.error();
    Result<std::size_t> received = Receive();
    if (!received.ok()) return received.error();
    return sent.value() + received.value() > 0;
  }

  void Sleep(Duration at_most) {
    const int events = (sent_ < to_send_ ? POLLOUT : 0) |
                       (received_ < to_receive_ ? POLLIN : 0);
    std::array<pollfd, 2> fds{pollfd{owner_.doorbell_.fd(), POLLIN, 0},
                              pollfd{socket_, static_cast<short>(events), 0}};
    (void)::poll(fds.data(), fds.size(), static_cast<int>(at_most.count()));
    if (fds[0].revents != 0) owner_.doorbell_.Drain();
  }

 private:
  Result<std::size_t> Send() {
    if (sent_ == to_send_) return std::size_t{0};
    Result<std::size_t> n =
        Moved(::send(socket_, owner_.outgoing_.data() + sent_, to_send_ - sent_,
                     MSG_DONTWAIT | MSG_NOSIGNAL),
              false);
    if (n.ok()) sent_ += n.value();
    return n;
  }

  Result<std::size_t> Receive() {
    if (received_ == to_receive_) return std::size_t{0};
    Result<std::size_t> n =
        Moved(::recv(socket_, owner_.incoming_.data() + received_,
                     to_receive_ - received_, MSG_DONTWAIT),
              true);
    if (!n.ok()) return n;
    const bool had_call = received_ >= sizeof(CallHeader);
    received_ += n.value();
    if (had_call || received_ < sizeof(CallHeader)) return n;
    CallHeader call;
    CopyBytes(&call, owner_.incoming_.data(), sizeof(call));
    Status fits = owner_.vigil_.Check(rank_, call);
    if (!fits.ok()) return std::move(fits).error();
    return n;
  }

  Doubling& owner_;
  int socket_;
  int rank_;
  std::size_t to_send_;
  std::size_t to_receive_;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
};

Doubling::Doubling(int host, Parts parts, const Doorbell& doorbell,
                   Vigil& vigil)
    : host_(host),
      parts_(std::move(parts)),
      doorbell_(doorbell),
      vigil_(vigil) {}

Status Doubling::Meet(int host, Way way, const void* data, std::size_t bytes) {
  const std::size_t message = sizeof(CallHeader) + bytes;
  outgoing_.resize(message);
  incoming_.resize(message);
  CopyBytes(outgoing_.data(), &vigil_.call(), sizeof(CallHeader));
  if (bytes > 0) {
    CopyBytes(outgoing_.data() + sizeof(CallHeader), data, bytes);
  }
  Exchange exchange(*this, host, way == Way::kReceive ? 0 : message,
                    way == Way::kSend ? 0 : message);
  busy_with_ = host;
  Status met = vigil_.Until(exchange, parts_.wait);
  busy_with_ = -1;
  return met;
}

Status Doubling::AllReduce(void* data, std::size_t count, DataType type,
                           ReduceOp op) {
  const std::size_t bytes = count * SizeOf(type);
  const auto incoming = [&]() -> const void* {
    return incoming_.data() + sizeof(CallHeader);
  };
  const auto combine = [&](bool theirs_first) {
    const std::array<const void*, 2> arrays =
        theirs_first ? std::array<const void*, 2>{incoming(), data}
                     : std::array<const void*, 2>{data, incoming()};
    Reduce(KernelForm::kPlain, data, arrays, count, type, op);
  };
  const DoublingPlan& plan = parts_.plan;
  if (plan.gives_to) {
    Status s = Meet(*plan.gives_to, Way::kSend, data, bytes);
    if (s.ok()) s = Meet(*plan.gives_to, Way::kReceive, data, bytes);
    if (s.ok() && bytes > 0) CopyBytes(data, incoming(), bytes);
    return s;
  }
  if (plan.takes_from) {
    Status s = Meet(*plan.takes_from, Way::kReceive, data, bytes);
    if (!s.ok()) return s;
    combine(false);
  }
  for (const int partner : plan.partners) {
    Status s = Meet(partner, Way::kBoth, data, bytes);
    if (!s.ok()) return s;
    combine(partner < host_);
  }
  if (!plan.takes_from) return Done{};
  return Meet(*plan.takes_from, Way::kSend, data, bytes);
}

Status Doubling::LookForStrays() {
  for (const auto& [host, socket] : parts_.sockets) {
    if (host == busy_with_) continue;
    CallHeader call;
    const ssize_t n =
        ::recv(socket.get(), &call, sizeof(call), MSG_DONTWAIT | MSG_PEEK);
    if (n != ssize_t{sizeof(call)}) continue;
    if (Status s = vigil_.Check(RankOf(host), call); !s.ok()) return s;
  }
  return Done{};
}

}  // namespace hvd
