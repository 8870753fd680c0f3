#include "rendezvous/http_listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "rendezvous/socket_address.h"

namespace hvd {
namespace {

// Accepted in one turn before others are served.
constexpr int kAcceptBatch = 16;
constexpr std::size_t kMaxConnections = 16384;
constexpr Duration kAcceptPause{100};

std::uint16_t BoundPort(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size);
  return PortOf(bound);
}

// Half of the process's descriptors are left for its other business.
std::size_t ConnectionLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMaxConnections;
  return std::clamp<std::size_t>(limit.rlim_cur / 2, 1, kMaxConnections);
}

Result<UniqueFd> BindAndListen(const HttpListener::Options& options) {
  const std::string where =
      "listen on " + options.address + " port " + std::to_string(options.port);
  const auto address = ParseSocketAddress(options.address, options.port);
  if (!address) {
    return Error(ErrorCode::kInvalidArgument, where + ": not an IP address");
  }
  UniqueFd fd(::socket(address->storage.ss_family,
                       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return Error::FromErrno(where, errno);
  const int on = 1;
  // A fixed port can be used again at once after a restart.
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Inherited by what is accepted.
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::bind(fd.get(), address->get(), address->size) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    return Error::FromErrno(where, errno);
  }
  return fd;
}

class SocketListener : public HttpListener {
 public:
  SocketListener(EventLoop& loop, const Options& options, Handlers handlers,
                 UniqueFd socket)
      : loop_(loop),
        limits_(options.limits),
        handlers_(std::move(handlers)),
        socket_(std::move(socket)),
        port_(BoundPort(socket_.get())),
        max_connections_(ConnectionLimit()) {
    events_.on_refused = [this](const HttpConnection& connection,
                                const HttpRefusal& refusal) {
      handlers_.on_refused(connection, refusal);
    };
    events_.on_closed = [this](std::uint64_t id) {
      connections_.erase(id);
      if (!accept_pause_) accepting_->Resume();
    };
    accepting_ = loop_.OnReadable(socket_.get(), [this] { Accept(); });
  }
  ~SocketListener() override {
    for (const auto& [id, connection] : connections_) connection->Abandon();
  }
  SocketListener(const SocketListener&) = delete;
  SocketListener& operator=(const SocketListener&) = delete;

  std::uint16_t port() const override { return port_; }
  std::size_t connections() const override { return connections_.size(); }

 private:
  void Accept() {
    for (int i = 0; i < kAcceptBatch; ++i) {
      if (connections_.size() >= max_connections_) return accepting_->Pause();
      sockaddr_storage peer{};
      socklen_t size = sizeof peer;
      UniqueFd fd(::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&peer),
                            &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (fd.valid()) {
        Add(std::move(fd), peer);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return;
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
                 errno == ENOMEM) {
        return PauseAccepting();
      }
      // Else that one connection failed before it was accepted: accept(2).
    }
  }

  void PauseAccepting() {
    accepting_->Pause();
    accept_pause_ = loop_.After(kAcceptPause, [this] {
      accept_pause_.reset();
      accepting_->Resume();
    });
  }

  void Add(UniqueFd fd, const sockaddr_storage& peer) {
    const std::uint64_t id = ++last_id_;
    auto connection = std::make_shared<HttpConnection>(
        loop_.context(), std::move(fd), peer, id, limits_, events_);
    connections_.emplace(id, connection);
    connection->Start(handlers_.on_accept(*connection), loop_.Now());
    if (!sweep_) ScheduleSweep();
  }

  // One timer for all: a timer a connection would cost more than its requests.
  void ScheduleSweep() {
    sweep_ = loop_.After(kSweepInterval, [this] {
      const Instant now = loop_.Now();
      for (const auto& [id, connection] : connections_) connection->Sweep(now);
      handlers_.on_sweep(now);
      if (connections_.empty()) {
        sweep_.reset();
      } else {
        ScheduleSweep();
      }
    });
  }

  EventLoop& loop_;
  const HttpLimits limits_;
  Handlers handlers_;
  UniqueFd socket_;
  const std::uint16_t port_;
  const std::size_t max_connections_;
  HttpConnection::Events events_;
  std::unordered_map<std::uint64_t, std::shared_ptr<HttpConnection>>
      connections_;
  std::uint64_t last_id_ = 0;
  std::unique_ptr<FdWatch> accepting_;
  std::unique_ptr<Timer> accept_pause_;
  std::unique_ptr<Timer> sweep_;
};

}  // namespace

Result<std::unique_ptr<HttpListener>> HttpListener::Listen(
    EventLoop& loop, const Options& options, Handlers handlers) {
  Result<UniqueFd> socket = BindAndListen(options);
  if (!socket.ok()) return std::move(socket).error();
  return std::unique_ptr<HttpListener>(std::make_unique<SocketListener>(
      loop, options, std::move(handlers), std::move(socket).value()));
}

}  // namespace hvd
