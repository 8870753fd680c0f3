#include "rendezvous/http_connection.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace hvd {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kSmallBuffer = 4096;   // enough for nearly all requests
constexpr std::size_t kLargeBuffer = 65536;  // given back when emptied
constexpr std::size_t kMinRead = 1024;
constexpr std::size_t kMaxDrained = std::size_t{1} << 20U;
constexpr Duration kDrainTime{1'000};
constexpr std::uint64_t kBytesPerExtraSecond = 1U << 20U;

Instant Now() { return SteadyClock().Now(); }

Duration Allowance(Duration base, std::uint64_t bytes) {
  return base + Duration(1000 * (bytes / kBytesPerExtraSecond));
}

}  // namespace

struct HttpConnection::Io {
  // Not the default, type-erased executor: it costs on every read.
  using Socket =
      boost::asio::basic_stream_socket<tcp,
                                       boost::asio::io_context::executor_type>;
  explicit Io(boost::asio::io_context& context) : socket(context) {}
  Socket socket;
};

HttpConnection::HttpConnection(boost::asio::io_context& context,
                               UniqueFd socket, const sockaddr_storage& peer,
                               std::uint64_t id, const HttpLimits& limits,
                               const Events& events)
    : id_(id),
      peer_(peer),
      limits_(limits),
      events_(&events),
      io_(std::make_unique<Io>(context)) {
  error_code ec;
  io_->socket.assign(peer.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(),
                     socket.get(), ec);
  if (!ec) (void)socket.Release();
}

HttpConnection::~HttpConnection() = default;

void HttpConnection::Start(std::unique_ptr<HttpConversation> conversation,
                           Instant now) {
  conversation_ = std::move(conversation);
  deadline_ = now + limits_.head;
  Read();
}

void HttpConnection::Read() {
  if (reading_ || phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kDraining) begin_ = end_;
  MakeRoom();
  if (end_ == in_.size()) return;  // full of requests that must wait
  reading_ = true;
  io_->socket.async_read_some(
      boost::asio::buffer(in_.data() + end_, in_.size() - end_),
      [self = shared_from_this()](const error_code& ec, std::size_t bytes) {
        self->reading_ = false;
        // A peer that is gone wants no answer; one in progress is withdrawn
        // by closing.
        if (ec) return self->Close();
        self->OnRead(bytes);
      });
}

// Only called while no read is in flight: a read writes into in_.
void HttpConnection::MakeRoom() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (in_.size() > kLargeBuffer) in_ = std::string();
    if (in_.empty()) in_.resize(kSmallBuffer);
    return;
  }
  const bool in_body = phase_ == Phase::kBody;
  const std::size_t wanted =
      in_body ? head_bytes_ + body_bytes_ : kMaxHeadBytes;
  if (in_.size() - end_ >= kMinRead || begin_ + wanted <= end_) return;
  if (begin_ > 0) {
    std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    head_moved_ = true;
  }
  // Doubles as bytes arrive: a length that is merely announced costs nothing.
  if (in_.size() - end_ < kMinRead && in_.size() < wanted) {
    in_.resize(std::min(wanted, 2 * in_.size()));
    head_moved_ = true;
  }
}

void HttpConnection::OnRead(std::size_t bytes) {
  if (phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kDraining) {
    drained_ += bytes;
    if (drained_ > kMaxDrained) return Close();
    return Read();
  }
  end_ += bytes;
  Process();
  Read();
}

void HttpConnection::Process() {
  if (processing_) return;
  processing_ = true;
  // An answer that the peer has not taken yet holds up its next request:
  // memory stays bounded by one answer.
  while (!closing_ && out_.empty()) {
    if (phase_ == Phase::kIdle || phase_ == Phase::kHead) {
      if (!TakeHead()) break;
    }
    if (phase_ != Phase::kBody || !TakeBody()) break;
  }
  processing_ = false;
}

// True: the head is accepted.
bool HttpConnection::TakeHead() {
  const std::string_view bytes(in_.data() + begin_, end_ - begin_);
  if (bytes.empty()) return false;
  const std::optional<std::size_t> size = HeadSize(bytes, searched_);
  searched_ = bytes.size();
  if (!size && bytes.size() < kMaxHeadBytes) {
    if (phase_ == Phase::kIdle) {
      phase_ = Phase::kHead;
      // The first head's time runs from the connection's start.
      if (answered_before_) deadline_ = Now() + limits_.head;
    }
    return false;
  }
  if (!size || *size > kMaxHeadBytes) {
    Refuse({431, "head", "request head is larger than 8192 bytes"});
    return false;
  }
  const auto parsed = ParseRequestHead(bytes.substr(0, *size));
  if (const auto* bad = std::get_if<BadHead>(&parsed)) {
    Refuse(
        {400, "not http", std::string("request is ") + std::string(bad->why)});
    return false;
  }
  head_ = *std::get_if<RequestHead>(&parsed);
  head_moved_ = false;
  head_bytes_ = *size;
  body_bytes_ = 0;
  searched_ = 0;
  if (const std::optional<HttpRefusal> refusal = conversation_->OnHead(head_)) {
    Refuse(*refusal);
    return false;
  }
  HVD_CHECK(!head_.chunked);
  body_bytes_ = static_cast<std::size_t>(head_.content_length.value_or(0));
  phase_ = Phase::kBody;
  if (bytes.size() < head_bytes_ + body_bytes_) {
    deadline_ = Now() + Allowance(limits_.body, body_bytes_);
    if (head_.expects_continue) {
      out_ += "HTTP/1.1 100 Continue\r\n\r\n";
      Write();
    }
  }
  return true;
}

// True: the request was handed over and is answered already.
bool HttpConnection::TakeBody() {
  const std::size_t size = head_bytes_ + body_bytes_;
  if (end_ - begin_ < size) return false;
  const std::string_view bytes(in_.data() + begin_, size);
  if (head_moved_) {
    const auto parsed = ParseRequestHead(bytes.substr(0, head_bytes_));
    head_ = *std::get_if<RequestHead>(&parsed);
  }
  phase_ = Phase::kAnswering;
  deadline_.reset();
  begin_ += size;
  closing_ = !head_.keep_alive;
  // Answer() or Refuse() ends this phase, perhaps before this call returns.
  conversation_->OnRequest(head_, bytes.substr(head_bytes_));
  return phase_ == Phase::kIdle;
}

void HttpConnection::Answer(const HttpAnswer& answer) {
  if (phase_ == Phase::kClosed) return;
  HVD_CHECK(phase_ == Phase::kAnswering);
  closing_ = closing_ || answer.then == AfterAnswer::kClose;
  HttpAnswer last = answer;
  if (closing_) last.then = AfterAnswer::kClose;
  AppendAnswer(out_, last);
  answered_before_ = true;
  phase_ = Phase::kIdle;
  deadline_ = Now() + limits_.idle;
  Write();
  if (processing_ || closing_) return;
  // Not from inside this call: the next request's handler may be the caller.
  boost::asio::post(io_->socket.get_executor(), [self = shared_from_this()] {
    self->Process();
    self->Read();
  });
}

void HttpConnection::Refuse(const HttpRefusal& refusal) {
  if (phase_ == Phase::kClosed) return;
  if (events_ != nullptr) events_->on_refused(*this, refusal);
  closing_ = true;
  phase_ = Phase::kIdle;
  deadline_.reset();  // how long it may take to read this is the write's limit
  AppendAnswer(out_, {.status = refusal.status,
                      .body = refusal.why + "\n",
                      .then = AfterAnswer::kClose});
  Write();
}

void HttpConnection::Write() {
  if (phase_ == Phase::kClosed) return;
  while (written_ < out_.size()) {
    const ssize_t n =
        ::send(io_->socket.native_handle(), out_.data() + written_,
               out_.size() - written_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return Close();
    if (n < 0) break;
    written_ += static_cast<std::size_t>(n);
  }
  if (written_ == out_.size()) return OnWritten();
  if (write_deadline_) return;  // waiting already
  write_deadline_ = Now() + Allowance(limits_.write, out_.size() - written_);
  io_->socket.async_wait(Io::Socket::wait_write,
                         [self = shared_from_this()](const error_code& ec) {
                           self->write_deadline_.reset();
                           if (ec) return;
                           self->Write();
                           self->Process();
                           self->Read();
                         });
}

void HttpConnection::OnWritten() {
  written_ = 0;
  out_.clear();
  if (out_.capacity() > kLargeBuffer) out_ = std::string();
  if (closing_ && phase_ == Phase::kIdle) Drain();
}

// Closing at once would reset the connection while the peer still sends, and
// the answer would be lost on it.
void HttpConnection::Drain() {
  phase_ = Phase::kDraining;
  deadline_ = Now() + kDrainTime;
  ::shutdown(io_->socket.native_handle(), SHUT_WR);
  if (!processing_) Read();  // else whoever processes does
}

void HttpConnection::Close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  error_code ec;
  io_->socket.close(ec);
  // Not from inside a call of the conversation's.
  boost::asio::post(io_->socket.get_executor(), [self = shared_from_this()] {
    self->conversation_.reset();
    if (self->events_ != nullptr) self->events_->on_closed(self->id_);
  });
}

void HttpConnection::Sweep(Instant now) {
  if (write_deadline_ && *write_deadline_ <= now) return Close();
  if (!deadline_ || now < *deadline_) return;
  switch (phase_) {
    case Phase::kIdle:
      if (!answered_before_ && events_ != nullptr) {
        events_->on_refused(
            *this, {408, "silent", "no request came after connecting"});
      }
      return Close();
    case Phase::kHead:
      return Refuse({408, "slow head", "request head came too slowly"});
    case Phase::kBody:
      return Refuse({408, "slow body", "request body came too slowly"});
    case Phase::kAnswering:
    case Phase::kClosed:
      return;
    case Phase::kDraining:
      return Close();
  }
}

void HttpConnection::Abandon() {
  events_ = nullptr;
  phase_ = Phase::kClosed;
  conversation_.reset();
  error_code ec;
  io_->socket.close(ec);
}

sockaddr_storage HttpConnection::local() const {
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  ::getsockname(io_->socket.native_handle(),
                reinterpret_cast<sockaddr*>(&local), &size);
  return local;
}

}  // namespace hvd
