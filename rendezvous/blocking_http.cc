#include "rendezvous/blocking_http.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <variant>

#include "base/socket_address.h"
#include "rendezvous/http_head.h"

namespace hvd {
namespace {

// The largest answer is a world: some 150 bytes a member.
constexpr std::uint64_t kMaxAnswerBytes = std::uint64_t{64} << 20U;
constexpr std::size_t kReadBytes = 65536;
// poll() counts in int; who waits for longer polls again.
constexpr Duration kLongestPoll{3'600'000};

int PollTimeout(Instant deadline) {
  const auto left = std::chrono::ceil<Duration>(deadline - SteadyClock().Now());
  return static_cast<int>(std::clamp(left, Duration(0), kLongestPoll).count());
}

Error Broken(const char* why) { return {ErrorCode::kUnavailable, why}; }

}  // namespace

Status BlockingHttp::Connect(const std::string& address, std::uint16_t port,
                             Instant deadline) {
  Close();
  const std::optional<SocketAddress> to = ParseSocketAddress(address, port);
  if (!to) {
    return Error(ErrorCode::kInvalidArgument,
                 "\"" + address + "\" is not an IP address");
  }
  socket_.Reset(::socket(to->storage.ss_family,
                         SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.valid()) return Error::FromErrno("socket", errno);
  const int on = 1;
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket_.get(), to->get(), to->size) == 0) return Done{};
  if (errno != EINPROGRESS) {
    const Error error = Error::FromErrno("connect", errno);
    Close();
    return error;
  }
  Status ready = WaitFor(Direction::kWrite, deadline);
  if (!ready.ok()) return ready;
  int failure = 0;
  socklen_t size = sizeof failure;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
  if (failure == 0) return Done{};
  Close();
  return Error::FromErrno("connect", failure);
}

Result<BlockingHttp::Answer> BlockingHttp::Ask(std::string_view head,
                                               std::string_view body,
                                               Instant deadline) {
  in_.clear();
  Status sent = Send(head, deadline);
  if (sent.ok()) sent = Send(body, deadline);
  // A server that refuses a body on its head answers and then reads no more:
  // what it said is worth more than "broken pipe".
  if (!sent.ok() && sent.error().code() != ErrorCode::kUnavailable) {
    Close();
    return sent.error();
  }
  Result<Answer> answer = ReadAnswer(deadline);
  if (!answer.ok()) Close();
  if (!answer.ok() && !sent.ok()) return sent.error();
  return answer;
}

bool BlockingHttp::IsOpen() {
  if (!socket_.valid()) return false;
  char byte = 0;
  const ssize_t n = ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  // Between requests silence is the only healthy sign.
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
  Close();
  return false;
}

void BlockingHttp::Close() {
  socket_.Reset();
  in_.clear();
}

Status BlockingHttp::WaitFor(Direction direction, Instant deadline) {
  for (;;) {
    std::array<pollfd, 2> fds{};
    fds[0].fd = cancel_fd_;
    fds[0].events = POLLIN;
    fds[1].fd = socket_.get();
    fds[1].events = direction == Direction::kRead ? POLLIN : POLLOUT;
    const int n = ::poll(fds.data(), fds.size(), PollTimeout(deadline));
    if (n < 0 && errno != EINTR) return Error::FromErrno("poll", errno);
    if (n > 0 && fds[0].revents != 0) {
      return Error(ErrorCode::kCancelled, "cancelled");
    }
    if (n > 0 && fds[1].revents != 0) return Done{};
    if (n == 0 && SteadyClock().Now() >= deadline) {
      return Error(ErrorCode::kTimeout, "no answer in time");
    }
  }
}

Status BlockingHttp::Send(std::string_view bytes, Instant deadline) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      Status ready = WaitFor(Direction::kWrite, deadline);
      if (!ready.ok()) return ready;
    } else if (errno != EINTR) {
      return Error::FromErrno("send", errno);
    }
  }
  return Done{};
}

Status BlockingHttp::Receive(Instant deadline) {
  for (;;) {
    // Waits before it reads, so that a cancelled call never succeeds.
    Status ready = WaitFor(Direction::kRead, deadline);
    if (!ready.ok()) return ready;
    const std::size_t size = in_.size();
    in_.resize(size + kReadBytes);
    const ssize_t n =
        ::recv(socket_.get(), in_.data() + size, kReadBytes, MSG_DONTWAIT);
    const int failure = errno;
    in_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n > 0) return Done{};
    if (n == 0) return Broken("connection closed");
    if (failure != EAGAIN && failure != EWOULDBLOCK && failure != EINTR) {
      return Error::FromErrno("receive", failure);
    }
  }
}

Result<BlockingHttp::Answer> BlockingHttp::ReadAnswer(Instant deadline) {
  std::size_t seen = 0;
  std::optional<std::size_t> head_size;
  while (!(head_size = HeadSize(in_, seen))) {
    if (in_.size() > kMaxHeadBytes) return Broken("answer is not HTTP");
    seen = in_.size();
    const Status received = Receive(deadline);
    if (!received.ok()) return received.error();
  }
  const std::string head_bytes = in_.substr(0, *head_size);
  const auto parsed = ParseAnswerHead(head_bytes);
  const auto* head = std::get_if<AnswerHead>(&parsed);
  if (head == nullptr) return Broken("answer is not HTTP");
  if (!head->content_length || *head->content_length > kMaxAnswerBytes) {
    return Broken("answer has no length, or too great a one");
  }
  const std::size_t size =
      *head_size + static_cast<std::size_t>(*head->content_length);
  while (in_.size() < size) {
    const Status received = Receive(deadline);
    if (!received.ok()) return received.error();
  }
  Answer answer{head->status, in_.substr(*head_size, size - *head_size),
                std::string(head->nonce), std::string(head->signature)};
  if (!head->keep_alive || in_.size() > size) Close();
  return answer;
}

}  // namespace hvd
