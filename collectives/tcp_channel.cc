#include "collectives/tcp_channel.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace hvd {
namespace {

// What one receive takes in the combining half: stays in the second-level
// cache until it is added.
constexpr std::size_t kScratchBytes = std::size_t{256} << 10U;

bool IsWouldBlock(int err) {
  return err == EAGAIN || err == EWOULDBLOCK || err == EINTR;
}

class TcpSender : public SendChannel {
 public:
  explicit TcpSender(UniqueFd socket) : socket_(std::move(socket)) {}

  Result<std::size_t> TrySend(std::span<const std::byte> bytes) override {
    const ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(),
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (IsWouldBlock(errno)) return std::size_t{0};
    return Error::FromErrno("send to ring neighbour", errno);
  }

  std::optional<pollfd> Arm() override {
    return pollfd{socket_.get(), POLLOUT, 0};
  }
  void Disarm() override {}

 private:
  UniqueFd socket_;
};

class TcpReceiver : public ReceiveChannel {
 public:
  explicit TcpReceiver(UniqueFd socket) : socket_(std::move(socket)) {}

  Result<std::size_t> TryReceive(std::span<std::byte> out) override {
    if (begin_ == end_) return Read(out);
    const std::size_t n = std::min(out.size(), end_ - begin_);
    std::memcpy(out.data(), scratch_.data() + begin_, n);
    begin_ += n;
    return n;
  }

  // Never reads past `limit`: what follows it goes where its piece belongs.
  Result<std::span<const std::byte>> Peek(std::size_t limit) override {
    if (end_ - begin_ < std::min(limit, kUnit)) {
      if (scratch_.empty()) scratch_.resize(kScratchBytes);
      std::memmove(scratch_.data(), scratch_.data() + begin_, end_ - begin_);
      end_ -= std::exchange(begin_, 0);
      const std::size_t room = std::min(limit, kScratchBytes) - end_;
      Result<std::size_t> n = Read({scratch_.data() + end_, room});
      if (!n.ok()) return std::move(n).error();
      end_ += n.value();
    }
    return std::span<const std::byte>(scratch_.data() + begin_,
                                      std::min(limit, end_ - begin_));
  }

  void Consume(std::size_t count) override { begin_ += count; }

  std::optional<pollfd> Arm() override {
    return pollfd{socket_.get(), POLLIN, 0};
  }
  void Disarm() override {}

 private:
  Result<std::size_t> Read(std::span<std::byte> out) {
    const ssize_t n =
        ::recv(socket_.get(), out.data(), out.size(), MSG_DONTWAIT);
    if (n > 0) return static_cast<std::size_t>(n);
    if (n < 0 && IsWouldBlock(errno)) return std::size_t{0};
    if (n < 0) return Error::FromErrno("receive from ring neighbour", errno);
    return Error(ErrorCode::kUnavailable, "ring neighbour closed the stream");
  }

  UniqueFd socket_;
  std::vector<std::byte> scratch_;  // made when first needed
  std::size_t begin_ = 0;           // of what Peek read and Consume left
  std::size_t end_ = 0;
};

}  // namespace

std::unique_ptr<SendChannel> MakeTcpSender(UniqueFd socket) {
  return std::make_unique<TcpSender>(std::move(socket));
}

std::unique_ptr<ReceiveChannel> MakeTcpReceiver(UniqueFd socket) {
  return std::make_unique<TcpReceiver>(std::move(socket));
}

}  // namespace hvd
