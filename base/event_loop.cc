#include "base/event_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>  // first: Boost 1.74's awaitable.hpp uses std::exchange

#include "base/check.h"
#include "base/unique_fd.h"

namespace hvd {
namespace {

using boost::asio::io_context;
using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

// The handler in flight keeps the state alive; `cancelled` keeps it silent.
class AsioTimer : public Timer {
 public:
  AsioTimer(io_context& context, Instant when, std::function<void()> fn)
      : state_(std::make_shared<State>(context, std::move(fn))) {
    state_->timer.expires_at(when);
    state_->timer.async_wait([state = state_](const error_code& ec) {
      if (ec || state->cancelled) return;
      const auto run = std::move(state->fn);
      run();
    });
  }
  ~AsioTimer() override {
    state_->cancelled = true;
    error_code ignored;
    state_->timer.cancel(ignored);
  }
  AsioTimer(const AsioTimer&) = delete;
  AsioTimer& operator=(const AsioTimer&) = delete;

 private:
  struct State {
    State(io_context& context, std::function<void()> f)
        : timer(context), fn(std::move(f)) {}
    boost::asio::steady_timer timer;
    std::function<void()> fn;
    bool cancelled = false;
  };
  std::shared_ptr<State> state_;
};

// All watches sit in one epoll set, and Asio waits for that set alone: Asio
// would make every descriptor it is given non-blocking, and descriptors 0, 1
// and 2 are shared with the user's shell.
class WatchSet {
 public:
  explicit WatchSet(io_context& context)
      : descriptor_(context, ::epoll_create1(EPOLL_CLOEXEC)) {
    HVD_CHECK(descriptor_.native_handle() >= 0);
    Arm();
  }
  WatchSet(const WatchSet&) = delete;
  WatchSet& operator=(const WatchSet&) = delete;

  std::uint64_t NextId() { return ++last_id_; }

  // False if `fd` is in the set already.
  bool Add(std::uint64_t id, int fd, std::uint32_t events,
           std::shared_ptr<std::function<void()>> fn) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    const int failed =
        ::epoll_ctl(descriptor_.native_handle(), EPOLL_CTL_ADD, fd, &event);
    HVD_CHECK(failed == 0 || errno == EEXIST);
    if (failed == 0) active_.emplace(id, std::move(fn));
    return failed == 0;
  }

  void Remove(std::uint64_t id, int fd) {
    if (active_.erase(id) == 0) return;
    ::epoll_ctl(descriptor_.native_handle(), EPOLL_CTL_DEL, fd, nullptr);
  }

 private:
  void Arm() {
    descriptor_.async_wait(stream_descriptor::wait_read,
                           [this](const error_code& ec) {
                             if (ec) return;
                             Dispatch();
                             Arm();
                           });
  }

  void Dispatch() {
    std::array<epoll_event, 64> events{};
    const int n = ::epoll_wait(descriptor_.native_handle(), events.data(),
                               static_cast<int>(events.size()), 0);
    for (int i = 0; i < n; ++i) {
      // A copy: the kernel packs epoll_event, so its members are not aligned.
      const std::uint64_t id = events[static_cast<size_t>(i)].data.u64;
      // One handler may remove the watch of a later one.
      const auto found = active_.find(id);
      if (found == active_.end()) continue;
      const auto fn = found->second;  // outlives its own removal
      (*fn)();
    }
  }

  stream_descriptor descriptor_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, std::shared_ptr<std::function<void()>>>
      active_;
};

class EpollFdWatch : public FdWatch {
 public:
  EpollFdWatch(WatchSet& set, int fd, std::uint32_t events,
               std::function<void()> fn)
      : set_(set),
        id_(set.NextId()),
        fd_(fd),
        events_(events),
        fn_(std::make_shared<std::function<void()>>(std::move(fn))) {
    Add();
  }
  ~EpollFdWatch() override { set_.Remove(id_, fd_); }
  EpollFdWatch(const EpollFdWatch&) = delete;
  EpollFdWatch& operator=(const EpollFdWatch&) = delete;

  void Pause() override {
    paused_ = true;
    set_.Remove(id_, fd_);
  }
  void Resume() override {
    if (!paused_) return;
    paused_ = false;
    Add();
  }

 private:
  // A set holds a descriptor once: what is watched for reading and for writing
  // is watched the second time through a duplicate.
  void Add() {
    if (set_.Add(id_, fd_, events_, fn_)) return;
    duplicate_.Reset(::fcntl(fd_, F_DUPFD_CLOEXEC, 0));
    HVD_CHECK(duplicate_.valid());
    fd_ = duplicate_.get();
    HVD_CHECK(set_.Add(id_, fd_, events_, fn_));
  }

  WatchSet& set_;
  std::uint64_t id_;
  int fd_;
  UniqueFd duplicate_;
  std::uint32_t events_;
  std::shared_ptr<std::function<void()>> fn_;
  bool paused_ = false;
};

}  // namespace

struct EventLoop::Impl {
  io_context context{1};
  // Run() sleeps rather than returns when nothing is pending.
  boost::asio::executor_work_guard<io_context::executor_type> work{
      context.get_executor()};
  WatchSet watches{context};
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

void EventLoop::Post(std::function<void()> fn) {
  boost::asio::post(impl_->context, std::move(fn));
}

std::unique_ptr<Timer> EventLoop::At(Instant when, std::function<void()> fn) {
  return std::make_unique<AsioTimer>(impl_->context, when, std::move(fn));
}

std::unique_ptr<Timer> EventLoop::After(Duration delay,
                                        std::function<void()> fn) {
  return At(Now() + delay, std::move(fn));
}

std::unique_ptr<FdWatch> EventLoop::OnReadable(int fd,
                                               std::function<void()> fn) {
  return std::make_unique<EpollFdWatch>(impl_->watches, fd, EPOLLIN,
                                        std::move(fn));
}

std::unique_ptr<FdWatch> EventLoop::OnWritable(int fd,
                                               std::function<void()> fn) {
  return std::make_unique<EpollFdWatch>(impl_->watches, fd, EPOLLOUT,
                                        std::move(fn));
}

void EventLoop::Run() {
  impl_->context.restart();
  impl_->context.run();
}

bool EventLoop::RunUntil(const std::function<bool()>& done, Duration limit) {
  const Instant end = Now() + limit;
  impl_->context.restart();
  // Asked once a turn: what holds now may not hold when asked again.
  while (!done()) {
    if (Now() >= end) return false;
    impl_->context.run_one_until(end);
  }
  return true;
}

void EventLoop::Stop() { impl_->context.stop(); }

Instant EventLoop::Now() const { return SteadyClock().Now(); }

boost::asio::io_context& EventLoop::context() { return impl_->context; }

}  // namespace hvd
