#include "rendezvous/http_listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace hvd {
namespace {

// Accepted in one turn before others are served.
constexpr int kAcceptBatch = 16;
constexpr std::size_t kMaxConnections = 16384;
constexpr Duration kAcceptPause{100};

// Half of the process's descriptors are left for its other business.
std::size_t ConnectionLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMaxConnections;
  return std::clamp<std::size_t>(limit.rlim_cur / 2, 1, kMaxConnections);
}

Result<UniqueFd> BindAndListen(const std::string& address,
                               const PortRange& ports) {
  Result<UniqueFd> fd = ListenInRange(address, ports, "rendezvous server");
  if (!fd.ok()) return fd;
  const int on = 1;
  // Inherited by what is accepted.
  ::setsockopt(fd.value().get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

class SocketListener : public HttpListener {
 public:
  SocketListener(EventLoop& loop, const Options& options, Handlers handlers,
                 UniqueFd socket)
      : loop_(loop),
        ports_(options.ports),
        limits_(options.limits),
        handlers_(std::move(handlers)),
        port_(BoundPort(socket.get())),
        max_connections_(ConnectionLimit()) {
    events_.on_refused = [this](const HttpConnection& connection,
                                const HttpRefusal& refusal) {
      handlers_.on_refused(connection, refusal);
    };
    events_.on_closed = [this](std::uint64_t id) {
      connections_.erase(id);
      if (!accept_pause_) ResumeAccepting();
    };
    Watch(options.address, std::move(socket));
  }
  ~SocketListener() override {
    for (const auto& [id, connection] : connections_) connection->Abandon();
  }
  SocketListener(const SocketListener&) = delete;
  SocketListener& operator=(const SocketListener&) = delete;

  std::uint16_t port() const override { return port_; }
  Result<std::uint16_t> AddAddress(const std::string& address) override {
    const auto known = sockets_.find(address);
    if (known != sockets_.end()) return BoundPort(known->second.fd.get());
    Result<UniqueFd> socket = BindAndListen(address, PortRange{port_, port_});
    if (!socket.ok()) socket = BindAndListen(address, ports_);
    if (!socket.ok()) return std::move(socket).error();
    const std::uint16_t port = BoundPort(socket.value().get());
    Watch(address, std::move(socket).value());
    return port;
  }
  std::size_t connections() const override { return connections_.size(); }

 private:
  struct Bound {
    UniqueFd fd;
    std::unique_ptr<FdWatch> accepting;  // ends before the descriptor
  };

  void Watch(const std::string& address, UniqueFd socket) {
    const int fd = socket.get();
    Bound& bound = sockets_[address];
    bound.fd = std::move(socket);
    bound.accepting = loop_.OnReadable(fd, [this, fd] { Accept(fd); });
  }

  void Accept(int socket) {
    for (int i = 0; i < kAcceptBatch; ++i) {
      if (connections_.size() >= max_connections_) return StopAccepting();
      sockaddr_storage peer{};
      socklen_t size = sizeof peer;
      UniqueFd fd(::accept4(socket, reinterpret_cast<sockaddr*>(&peer), &size,
                            SOCK_CLOEXEC | SOCK_NONBLOCK));
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

  void StopAccepting() {
    for (auto& [address, bound] : sockets_) bound.accepting->Pause();
  }
  void ResumeAccepting() {
    for (auto& [address, bound] : sockets_) bound.accepting->Resume();
  }
  void PauseAccepting() {
    StopAccepting();
    accept_pause_ = loop_.After(kAcceptPause, [this] {
      accept_pause_.reset();
      ResumeAccepting();
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
  const PortRange ports_;
  const HttpLimits limits_;
  Handlers handlers_;
  const std::uint16_t port_;
  const std::size_t max_connections_;
  HttpConnection::Events events_;
  std::unordered_map<std::uint64_t, std::shared_ptr<HttpConnection>>
      connections_;
  std::uint64_t last_id_ = 0;
  std::map<std::string, Bound> sockets_;  // by address
  std::unique_ptr<Timer> accept_pause_;
  std::unique_ptr<Timer> sweep_;
};

}  // namespace

Result<std::unique_ptr<HttpListener>> HttpListener::Listen(
    EventLoop& loop, const Options& options, Handlers handlers) {
  Result<UniqueFd> socket = BindAndListen(options.address, options.ports);
  if (!socket.ok()) return std::move(socket).error();
  return std::unique_ptr<HttpListener>(std::make_unique<SocketListener>(
      loop, options, std::move(handlers), std::move(socket).value()));
}

}  // namespace hvd
