// HttpConnection: one accepted socket that speaks HTTP/1.1 in small, bounded,
// timely messages. What the requests mean is its conversation's business.
//
// A conversation judges each head before any of its body is taken in. One
// request is in progress at a time; pipelined ones wait in the socket. A peer
// that sends heads or bodies too slowly, or does not read its answers, is
// dropped by Sweep(). Loop thread only.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "rendezvous/http_answer.h"
#include "rendezvous/http_head.h"
#include "rendezvous/http_limits.h"

namespace boost::asio {
class io_context;
}

namespace hvd {

class HttpConnection;

// Why a request is turned away. `kind` names the rule; equal rules, equal
// kinds.
struct HttpRefusal {
  int status = 400;
  std::string kind;
  std::string why;  // one line: the answer's body
};

class HttpConversation {
 public:
  virtual ~HttpConversation() = default;
  // The refusal is sent and the connection closed; nullopt: go on with the
  // body, whose length is known and bounded by what this function let pass.
  virtual std::optional<HttpRefusal> OnHead(const RequestHead& head) = 0;
  // Leads to one HttpConnection::Answer() or Refuse(), now or later. Views are
  // valid during the call.
  virtual void OnRequest(const RequestHead& head, std::string_view body) = 0;
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  struct Events {
    std::function<void(const HttpConnection&, const HttpRefusal&)> on_refused;
    std::function<void(std::uint64_t id)> on_closed;
  };

  // Alive while its handlers are in flight, hence shared.
  HttpConnection(boost::asio::io_context& context, UniqueFd socket,
                 const sockaddr_storage& peer, std::uint64_t id,
                 const HttpLimits& limits, const Events& events);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void Start(std::unique_ptr<HttpConversation> conversation, Instant now);
  // Answers the request in progress.
  void Answer(const HttpAnswer& answer);
  // Answers it with a refusal, reports that, and closes.
  void Refuse(const HttpRefusal& refusal);
  // Drops the connection when its peer has kept it waiting too long.
  void Sweep(Instant now);
  // Nothing is called any more, on_closed neither.
  void Abandon();

  std::uint64_t id() const { return id_; }
  const sockaddr_storage& peer() const { return peer_; }
  sockaddr_storage local() const;

 private:
  struct Io;
  enum class Phase {
    kIdle,       // between requests
    kHead,       // part of a head is here
    kBody,       // the head is judged, the body on its way
    kAnswering,  // the conversation has the request
    kDraining,   // refused: what still comes is thrown away
    kClosed,
  };

  void Read();
  void OnRead(std::size_t bytes);
  // Hands over the requests that are here.
  void Process();
  bool TakeHead();
  bool TakeBody();
  void Write();
  void OnWritten();
  void Drain();
  void Close();
  void MakeRoom();

  const std::uint64_t id_;
  const sockaddr_storage peer_;
  const HttpLimits& limits_;
  const Events* events_;  // nullptr once abandoned
  std::unique_ptr<Io> io_;
  std::unique_ptr<HttpConversation> conversation_;

  std::string in_;         // [begin_, end_) is unread input
  std::size_t begin_ = 0;  // of the current request
  std::size_t end_ = 0;
  std::size_t searched_ = 0;  // bytes of the head looked at
  std::size_t head_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  RequestHead head_;         // views into in_
  bool head_moved_ = false;  // in_ has moved since

  std::string out_;
  std::size_t written_ = 0;
  Phase phase_ = Phase::kIdle;
  bool reading_ = false;
  bool processing_ = false;
  bool closing_ = false;  // once out_ is written
  bool answered_before_ = false;
  std::size_t drained_ = 0;
  std::optional<Instant> deadline_;  // of the phase
  std::optional<Instant> write_deadline_;
};

}  // namespace hvd
