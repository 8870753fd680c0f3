#include "rendezvous/horovod_caller.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <utility>

#include "base/clock.h"

namespace hvd {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

// Of one address, from the connection to the end of the answer.
constexpr Duration kPatience{2'000};

}  // namespace

class HorovodCaller::Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(EventLoop& loop, HorovodListener listener, std::string frame)
      : loop_(loop),
        listener_(std::move(listener)),
        frame_(std::move(frame)),
        socket_(loop.context()) {}

  void Start() { TryNext(); }

  void GiveUp() {
    next_ = listener_.addresses.size();
    deadline_.reset();
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  void TryNext() {
    deadline_.reset();
    error_code error;
    socket_.close(error);
    while (next_ < listener_.addresses.size()) {
      const HorovodListener::Address& to = listener_.addresses[next_++];
      const auto ip = boost::asio::ip::make_address(to.ip, error);
      if (error) continue;
      answer_.clear();
      deadline_ = loop_.After(kPatience, [self = shared_from_this()] {
        error_code ignored;
        self->socket_.close(ignored);  // its handler goes on
      });
      socket_.async_connect(
          tcp::endpoint(ip, to.port),
          [self = shared_from_this()](const error_code& failed) {
            self->OnConnected(failed);
          });
      return;
    }
  }

  void OnConnected(const error_code& error) {
    if (error) return TryNext();
    boost::asio::async_write(
        socket_, boost::asio::buffer(frame_),
        [self = shared_from_this()](const error_code& failed, std::size_t) {
          if (failed) return self->TryNext();
          self->Read();
        });
  }

  void Read() {
    socket_.async_read_some(boost::asio::buffer(buffer_),
                            [self = shared_from_this()](const error_code& error,
                                                        std::size_t bytes) {
                              if (error) return self->TryNext();
                              self->answer_.append(self->buffer_.data(), bytes);
                              self->OnRead();
                            });
  }

  void OnRead() {
    switch (JudgeAnswer(listener_.key, answer_)) {
      case AnswerState::kIncomplete:
        return Read();
      case AnswerState::kAcknowledged:
        return GiveUp();  // it is done
      case AnswerState::kWrong:
        return TryNext();
    }
  }

  EventLoop& loop_;
  const HorovodListener listener_;
  const std::string frame_;
  tcp::socket socket_;
  std::size_t next_ = 0;  // of the listener's addresses
  std::unique_ptr<Timer> deadline_;
  std::array<char, 1024> buffer_{};
  std::string answer_;
};

HorovodCaller::~HorovodCaller() {
  if (attempt_) attempt_->GiveUp();
}

void HorovodCaller::Call(const HorovodListener& listener) {
  if (attempt_) attempt_->GiveUp();
  attempt_ = std::make_shared<Attempt>(
      loop_, listener, HostsUpdatedFrame(listener.key, ++last_timestamp_));
  attempt_->Start();
}

}  // namespace hvd
