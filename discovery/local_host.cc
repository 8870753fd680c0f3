#include "discovery/local_host.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "base/seconds.h"
#include "base/unique_fd.h"

namespace hvd {
namespace {

bool CanBindHere(const addrinfo& info) {
  const UniqueFd fd(
      ::socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  // Port 0 in what getaddrinfo gave: the kernel takes a free one.
  return fd.valid() && ::bind(fd.get(), info.ai_addr, info.ai_addrlen) == 0;
}

std::string Literal(const addrinfo& info) {
  std::array<char, NI_MAXHOST> text{};
  const int failed = ::getnameinfo(info.ai_addr, info.ai_addrlen, text.data(),
                                   text.size(), nullptr, 0, NI_NUMERICHOST);
  return failed != 0 ? std::string() : std::string(text.data());
}

enum class Lookup { kLiteralOnly, kNames };

// Blocks for as long as the system's resolver likes, unless kLiteralOnly.
Result<HostAddress> FindAddress(const std::string& host, Lookup lookup) {
  addrinfo want{};
  want.ai_family = AF_UNSPEC;
  want.ai_socktype = SOCK_STREAM;
  want.ai_flags = lookup == Lookup::kLiteralOnly ? AI_NUMERICHOST : 0;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), nullptr, &want, &found);
  if (failed != 0) {
    const char* why =
        failed == EAI_SYSTEM ? "system error" : gai_strerror(failed);
    return Error{
        failed == EAI_AGAIN ? ErrorCode::kUnavailable : ErrorCode::kNotFound,
        "host " + host + ": cannot be resolved (" + why + ")"};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found,
                                                             ::freeaddrinfo);
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    if (CanBindHere(*info)) return HostAddress{host, Literal(*info), true};
  }
  return HostAddress{host, Literal(*found), false};
}

// More would only queue up at the same name server.
constexpr std::size_t kMaxThreads = 16;

// Shared with the threads that look names up, which may outlive everything
// else here: a lookup cannot be called off.
struct Mailbox {
  std::mutex mu;
  EventLoop* loop = nullptr;                      // guarded by mu; null: gone
  std::vector<std::string> names;                 // guarded by mu; still to do
  std::function<void(Result<HostAddress>)> take;  // loop thread only
};

std::optional<std::string> NextName(Mailbox& mailbox) {
  const std::scoped_lock lock(mailbox.mu);
  if (mailbox.loop == nullptr || mailbox.names.empty()) return std::nullopt;
  std::string name = std::move(mailbox.names.back());
  mailbox.names.pop_back();
  return name;
}

void Deliver(const std::shared_ptr<Mailbox>& mailbox,
             Result<HostAddress> result) {
  const std::scoped_lock lock(mailbox->mu);
  if (mailbox->loop == nullptr) return;
  mailbox->loop->Post([mailbox, result = std::move(result)] {
    if (mailbox->take) mailbox->take(result);
  });
}

Status StartThread(const std::shared_ptr<Mailbox>& mailbox) {
  try {
    std::thread([mailbox] {
      while (const auto name = NextName(*mailbox)) {
        Deliver(mailbox, FindAddress(*name, Lookup::kNames));
      }
    }).detach();
  } catch (const std::system_error& e) {
    return Error::FromErrno("start a thread to look up hosts",
                            e.code().value());
  }
  return Done{};
}

class ThreadedLookup : public HostLookup {
 public:
  ThreadedLookup(EventLoop& loop, std::vector<std::string> hosts,
                 Duration limit, AddressHandler done)
      : hosts_(std::move(hosts)),
        limit_(limit),
        done_(std::move(done)),
        mailbox_(std::make_shared<Mailbox>()) {
    mailbox_->loop = &loop;
    mailbox_->take = [this](Result<HostAddress> r) { Take(std::move(r)); };
    for (const std::string& host : hosts_) Begin(host);
    const Status started = StartThreads();
    if (!started.ok()) {
      timer_ = loop.After(Duration{0},
                          [this, error = started.error()] { Call(error); });
    } else if (pending_ == 0) {
      timer_ = loop.After(Duration{0}, [this] { Finish(); });
    } else {
      timer_ = loop.After(limit, [this] { GiveUp(); });
    }
  }
  ~ThreadedLookup() override {
    mailbox_->take = nullptr;
    const std::scoped_lock lock(mailbox_->mu);
    mailbox_->loop = nullptr;
  }
  ThreadedLookup(const ThreadedLookup&) = delete;
  ThreadedLookup& operator=(const ThreadedLookup&) = delete;

 private:
  // A name listed twice is looked up once.
  void Begin(const std::string& host) {
    if (!asked_.insert(host).second) return;
    if (auto known = AddressWithoutLookup(host)) {
      found_.emplace(host, std::move(*known));
      return;
    }
    ++pending_;
    mailbox_->names.push_back(host);  // no thread has it yet
  }

  // The first thread alone would do, only more slowly.
  Status StartThreads() {
    for (std::size_t n = 0; n < std::min(pending_, kMaxThreads); ++n) {
      Status started = StartThread(mailbox_);
      if (!started.ok()) return n == 0 ? std::move(started) : Done{};
    }
    return Done{};
  }

  void Take(Result<HostAddress> result) {
    if (!done_) return;
    if (!result.ok()) {
      Call(std::move(result).error());
      return;
    }
    --pending_;
    found_.emplace(result.value().host, result.value());
    if (pending_ == 0) Finish();
  }

  void Finish() {
    std::vector<HostAddress> addresses;
    for (const std::string& host : hosts_) {
      addresses.push_back(found_.at(host));
    }
    Call(std::move(addresses));
  }

  void GiveUp() {
    std::string missing;
    for (const std::string& host : asked_) {
      if (found_.count(host) == 0) missing += ' ' + host;
    }
    Call(Error{
        ErrorCode::kTimeout,
        "looking up" + missing + ": no answer after " + SecondsText(limit_)});
  }

  // The handler may destroy this object.
  void Call(Result<std::vector<HostAddress>> result) {
    timer_.reset();
    const AddressHandler done = std::exchange(done_, nullptr);
    if (done) done(std::move(result));
  }

  std::vector<std::string> hosts_;
  Duration limit_;
  AddressHandler done_;
  std::shared_ptr<Mailbox> mailbox_;
  std::set<std::string> asked_;
  std::map<std::string, HostAddress> found_;
  std::size_t pending_ = 0;
  std::unique_ptr<Timer> timer_;
};

}  // namespace

std::optional<HostAddress> AddressWithoutLookup(const std::string& host) {
  // Always this machine's loopback (RFC 6761), and the most common of hosts.
  if (host == "localhost") return HostAddress{host, "127.0.0.1", true};
  Result<HostAddress> literal = FindAddress(host, Lookup::kLiteralOnly);
  if (!literal.ok()) return std::nullopt;
  return std::move(literal).value();
}

std::unique_ptr<HostLookup> LookUpHosts(EventLoop& loop,
                                        std::vector<std::string> hosts,
                                        Duration limit, AddressHandler done) {
  return std::make_unique<ThreadedLookup>(loop, std::move(hosts), limit,
                                          std::move(done));
}

}  // namespace hvd
