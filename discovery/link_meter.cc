#include "discovery/link_meter.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/random_bytes.h"
#include "base/seconds.h"
#include "base/socket_address.h"
#include "base/unique_fd.h"
#include "discovery/link_message.h"

namespace hvd {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

constexpr std::size_t kBlockBytes = 64U << 10U;
// Before whatever else the loop has to do.
constexpr int kBlocksATurn = 16;

std::string WordsOf(int error) {
  return std::generic_category().message(error);
}

// One measurement, step by step. Tells its end once, and is destroyed then.
class Conversation {
 public:
  using Done = std::function<void(LinkResult)>;

  Conversation(EventLoop& loop, const std::string& key, ProbeTarget target,
               Done done)
      : loop_(loop),
        key_(key),
        target_(std::move(target)),
        done_(std::move(done)) {
    begin_ = loop_.After(Duration{0}, [this] { Connect(); });
  }

 private:
  void Connect() {
    limit_ = loop_.After(LinkMeter::kLimit, [this] { GiveUp(); });
    connect_limit_ = loop_.After(LinkMeter::kConnectLimit, [this] {
      Fail("timed out after " + SecondsText(LinkMeter::kConnectLimit));
    });
    const auto at = ParseSocketAddress(target_.address, target_.port);
    if (!at) return Fail("not an IP address");
    fd_ = UniqueFd(::socket(at->storage.ss_family,
                            SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd_.valid()) return Fail(WordsOf(errno));
    const int on = 1;
    (void)::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(fd_.get(), at->get(), at->size) != 0 &&
        errno != EINPROGRESS) {
      return Fail(WordsOf(errno));
    }
    writable_ = loop_.OnWritable(fd_.get(), [this] { OnConnected(); });
  }

  void OnConnected() {
    int error = 0;
    socklen_t size = sizeof error;
    (void)::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return Fail(WordsOf(error));
    connect_limit_.reset();
    writable_.reset();
    waits_for_ = "its greeting";
    nonce_ = RandomBytes(kLinkNonceBytes);
    if (!Say(FormatLinkHello(key_, nonce_))) return HungUp();
    readable_ = loop_.OnReadable(fd_.get(), [this] { Read(); });
  }

  // One answer is on its way at a time, so what is here belongs to it.
  void Read() {
    std::array<char, kMaxLinkWelcome> bytes{};
    const ssize_t n = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return HungUp();
    heard_.append(bytes.data(), static_cast<std::size_t>(n));
    if (link_key_.empty()) return OnWelcome();
    if (heard_.size() < kLinkFrameBytes) return;
    const auto frame = ParseLinkFrame(link_key_, std::exchange(heard_, {}));
    if (!frame) return Fail("its answer is not signed");
    OnFrame(*frame);
  }

  void OnWelcome() {
    const auto welcome = ParseLinkWelcome(key_, nonce_, heard_);
    if (!welcome) {
      if (heard_.size() >= kMaxLinkWelcome) Fail("no hvdrun there");
      return;
    }
    heard_.clear();
    if (welcome->identity != target_.identity) {
      return Fail("another host answers there");
    }
    link_key_ = LinkKey(key_, nonce_, welcome->nonce);
    waits_for_ = "round trips";
    Ping();
  }

  void Ping() {
    asked_ = loop_.Now();
    if (!Say(LinkWord::kPing, round_trips_.size(), 0)) HungUp();
  }

  void OnFrame(const LinkFrame& frame) {
    if (frame.word == LinkWord::kPong && frame.first == round_trips_.size()) {
      return OnPong();
    }
    const bool receipt = frame.word == LinkWord::kReceived &&
                         round_trips_.size() == LinkMeter::kPings;
    if (!receipt) return Fail("its answer does not fit");
    const auto longest = duration_cast<microseconds>(LinkMeter::kLimit);
    result_.load_bytes = std::min(frame.first, LinkMeter::kLoadBytes);
    result_.load_time = microseconds(
        std::min(frame.second, static_cast<std::uint64_t>(longest.count())));
    Finish();
  }

  void OnPong() {
    round_trips_.push_back(duration_cast<microseconds>(loop_.Now() - asked_));
    if (round_trips_.size() < LinkMeter::kPings) return Ping();
    std::vector<microseconds> sorted = round_trips_;
    std::sort(sorted.begin(), sorted.end());
    result_.least_round_trip = sorted.front();
    result_.median_round_trip = sorted[sorted.size() / 2];
    SendLoad();
  }

  void SendLoad() {
    waits_for_ = "the count of what arrived";
    // What will not have arrived in time must not be sent afterwards.
    const linger at_once{1, 0};
    (void)::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once,
                       sizeof at_once);
    const auto time = duration_cast<microseconds>(LinkMeter::kLoadTime);
    if (!Say(LinkWord::kLoad, LinkMeter::kLoadBytes,
             static_cast<std::uint64_t>(time.count()))) {
      return HungUp();
    }
    block_ = RandomBytes(kBlockBytes);  // nothing on the way can shrink it
    writable_ = loop_.OnWritable(fd_.get(), [this] { WriteLoad(); });
  }

  void WriteLoad() {
    for (int turn = 0; turn < kBlocksATurn; ++turn) {
      if (sent_ == LinkMeter::kLoadBytes) return writable_->Pause();
      const std::size_t part = static_cast<std::size_t>(std::min<std::uint64_t>(
          block_.size(), LinkMeter::kLoadBytes - sent_));
      const ssize_t n = ::send(fd_.get(), block_.data(), part, MSG_NOSIGNAL);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (n < 0) return HungUp();
      sent_ += static_cast<std::uint64_t>(n);
    }
  }

  bool Say(LinkWord word, std::uint64_t first, std::uint64_t second) {
    return Say(FormatLinkFrame(link_key_, {word, first, second}));
  }
  bool Say(const std::string& bytes) {
    return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }

  void GiveUp() {
    Fail("waited " + SecondsText(LinkMeter::kLimit) + " for " + waits_for_);
  }
  void HungUp() { Fail("it hung up, instead of " + waits_for_); }
  void Fail(std::string why) {
    result_ = {};
    result_.failure = std::move(why);
    Finish();
  }
  // Destroys this; `done` lives until it returns.
  void Finish() {
    const Done done = std::move(done_);
    done(std::move(result_));
  }

  EventLoop& loop_;
  const std::string& key_;
  const ProbeTarget target_;
  Done done_;
  std::string waits_for_ = "a connection";
  std::string nonce_;
  std::string link_key_;
  std::string heard_;
  Instant asked_;
  std::vector<microseconds> round_trips_;
  std::string block_;
  std::uint64_t sent_ = 0;
  LinkResult result_;
  UniqueFd fd_;  // outlives its watches
  std::unique_ptr<FdWatch> readable_;
  std::unique_ptr<FdWatch> writable_;
  std::unique_ptr<Timer> begin_;
  std::unique_ptr<Timer> limit_;
  std::unique_ptr<Timer> connect_limit_;
};

class SocketLinkMeter : public LinkMeter {
 public:
  SocketLinkMeter(EventLoop& loop, std::string key)
      : loop_(loop), key_(std::move(key)) {}

  void Measure(const ProbeTarget& target, Handler handler) override {
    queue_.push_back({target, std::move(handler)});
    if (!conversation_) Next();
  }

 private:
  struct Wanted {
    ProbeTarget target;
    Handler handler;
  };

  void Next() {
    conversation_.reset();
    if (queue_.empty()) return;
    Wanted wanted = std::move(queue_.front());
    queue_.pop_front();
    conversation_ = std::make_unique<Conversation>(
        loop_, key_, std::move(wanted.target),
        [this, handler = std::move(wanted.handler)](const LinkResult& result) {
          Next();
          handler(result);
        });
  }

  EventLoop& loop_;
  const std::string key_;
  std::deque<Wanted> queue_;
  std::unique_ptr<Conversation> conversation_;
};

}  // namespace

std::unique_ptr<LinkMeter> LinkMeter::Make(EventLoop& loop, std::string key) {
  return std::make_unique<SocketLinkMeter>(loop, std::move(key));
}

}  // namespace hvd
