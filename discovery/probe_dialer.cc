#include "discovery/probe_dialer.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "base/random_bytes.h"
#include "base/seconds.h"
#include "base/socket_address.h"
#include "base/unique_fd.h"
#include "discovery/probe_message.h"

namespace hvd {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

ProbeResult Unreached(std::string why) {
  ProbeResult result;
  result.failure = std::move(why);
  return result;
}

ProbeResult Unreached(int error) {
  return Unreached(std::generic_category().message(error));
}

ProbeResult NoHvdrun(std::string why = "") {
  ProbeResult result;
  result.kind = ProbeResult::Kind::kNoHvdrun;
  result.failure = std::move(why);
  return result;
}

int ConnectError(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

std::string LocalAddress(int fd) {
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  const bool known =
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size) == 0;
  return known ? AddressOf(local) : "";
}

class SocketProbeDialer : public ProbeDialer {
 public:
  SocketProbeDialer(EventLoop& loop, std::string key)
      : loop_(loop), key_(std::move(key)) {}
  ~SocketProbeDialer() override { *alive_ = false; }
  SocketProbeDialer(const SocketProbeDialer&) = delete;
  SocketProbeDialer& operator=(const SocketProbeDialer&) = delete;

  void Dial(std::vector<ProbeTarget> targets, Handler handler) override {
    const auto shared = std::make_shared<const Handler>(std::move(handler));
    const Instant deadline = loop_.Now() + kBatchLimit;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      queue_.push_back({i, std::move(targets[i]), shared, deadline});
    }
    start_ = loop_.After(Duration{0}, [this] { StartMore(); });
  }

 private:
  struct Probe {
    std::size_t index = 0;
    ProbeTarget target;
    std::shared_ptr<const Handler> handler;  // one a batch
    Instant deadline;                        // of the batch
  };
  // A step at a time: connecting, then reading the answer.
  struct Flight {
    Probe probe;
    UniqueFd fd;
    Instant begun;
    std::string nonce;  // once asked
    Instant asked;
    std::string answer;
    std::unique_ptr<Timer> limit;
    std::unique_ptr<FdWatch> watch;  // ends before the descriptor
  };

  void StartMore() {
    const std::shared_ptr<bool> alive = alive_;
    while (*alive && !queue_.empty() && flights_.size() < kMaxInFlight) {
      Probe probe = std::move(queue_.front());
      queue_.pop_front();
      Start(std::move(probe));
    }
  }

  // May destroy this object, as all that ends a probe may.
  void Start(Probe probe) {
    const Instant now = loop_.Now();
    if (now >= probe.deadline) {
      return Tell(probe,
                  Unreached("not tried within " + SecondsText(kBatchLimit)));
    }
    const auto at = ParseSocketAddress(probe.target.address, probe.target.port);
    if (!at) return Tell(probe, Unreached("not an IP address"));
    UniqueFd fd(::socket(at->storage.ss_family,
                         SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) return Tell(probe, Unreached(errno));
    if (::connect(fd.get(), at->get(), at->size) != 0 && errno != EINPROGRESS) {
      return Tell(probe, Unreached(errno));
    }
    const std::uint64_t id = ++last_id_;
    Flight& flight = flights_[id];
    const int raw = fd.get();
    flight.fd = std::move(fd);
    flight.begun = now;
    flight.limit = loop_.At(std::min(now + kProbeLimit, probe.deadline),
                            [this, id] { GiveUp(id); });
    flight.watch = loop_.OnWritable(raw, [this, id] { OnConnected(id); });
    flight.probe = std::move(probe);
  }

  void OnConnected(std::uint64_t id) {
    Flight& flight = flights_.at(id);
    const int raw = flight.fd.get();
    if (const int error = ConnectError(raw); error != 0) {
      return Finish(id, Unreached(error));
    }
    flight.nonce = RandomBytes(kProbeNonceBytes);
    flight.asked = loop_.Now();
    const std::string challenge = FormatProbeChallenge(key_, flight.nonce);
    // An empty socket buffer has room for it.
    if (::send(raw, challenge.data(), challenge.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(challenge.size())) {
      return Finish(id, NoHvdrun());
    }
    flight.watch.reset();
    flight.watch = loop_.OnReadable(raw, [this, id] { OnAnswer(id); });
  }

  void OnAnswer(std::uint64_t id) {
    Flight& flight = flights_.at(id);
    std::array<char, kMaxProbeAnswer> bytes{};
    const ssize_t n = ::recv(
        flight.fd.get(), bytes.data(),
        std::max<std::size_t>(1, bytes.size() - flight.answer.size()), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return Finish(id, NoHvdrun());
    flight.answer.append(bytes.data(), static_cast<std::size_t>(n));
    const auto answer = ParseProbeAnswer(key_, flight.nonce, flight.answer);
    if (answer) return Finish(id, Judge(flight, answer->identity));
    if (flight.answer.size() >= kMaxProbeAnswer) Finish(id, NoHvdrun());
  }

  ProbeResult Judge(const Flight& flight, const std::string& identity) const {
    ProbeResult result;
    const bool right = identity == flight.probe.target.identity;
    result.kind =
        right ? ProbeResult::Kind::kProved : ProbeResult::Kind::kOtherHost;
    result.answered_as = identity;
    if (!right) return result;
    result.local_address = LocalAddress(flight.fd.get());
    result.round_trip = duration_cast<microseconds>(loop_.Now() - flight.asked);
    return result;
  }

  void GiveUp(std::uint64_t id) {
    const Flight& flight = flights_.at(id);
    const auto waited = duration_cast<Duration>(loop_.Now() - flight.begun);
    const std::string after =
        " after " + SecondsText(std::min(waited, kProbeLimit));
    Finish(id, flight.nonce.empty() ? Unreached("timed out" + after)
                                    : NoHvdrun("no answer" + after));
  }

  void Finish(std::uint64_t id, const ProbeResult& result) {
    const std::shared_ptr<bool> alive = alive_;
    const auto node = flights_.extract(id);
    Tell(node.mapped().probe, result);
    if (*alive) StartMore();
  }

  static void Tell(const Probe& probe, const ProbeResult& result) {
    (*probe.handler)(probe.index, result);
  }

  EventLoop& loop_;
  const std::string key_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::deque<Probe> queue_;
  std::map<std::uint64_t, Flight> flights_;
  std::uint64_t last_id_ = 0;
  std::unique_ptr<Timer> start_;
};

}  // namespace

std::unique_ptr<ProbeDialer> ProbeDialer::Make(EventLoop& loop,
                                               std::string key) {
  return std::make_unique<SocketProbeDialer>(loop, std::move(key));
}

}  // namespace hvd
