#include "launcher/output_writer.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

namespace hvd {
namespace {

// One write: small enough that the space it frees is soon known.
constexpr std::size_t kWriteSize = 128U << 10U;
// A descriptor that was made non-blocking by someone else is polled this long
// between looks at whether the bytes are still wanted.
constexpr int kPollMs = 1000;
// A thread that is not inside a write ends within microseconds.
constexpr Duration kThreadEnd{1000};

// The thread gets no signal: they are the loop thread's business, and a SIGPIPE
// of its own writes must not end the program.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &original_);
  }
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &original_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t original_{};
};

}  // namespace

class OutputTarget {
 public:
  OutputTarget(int fd, UniqueFd owned, std::string name)
      : owned_(std::move(owned)), fd_(fd), name_(std::move(name)) {}

  int fd() const { return fd_; }
  const std::string& name() const { return name_; }

  // The rest is guarded by Shared::mu, but for last_byte: the thread's own.
  std::string pending;
  bool in_queue = false;
  bool broken = false;
  bool start_line = false;
  char last_byte = '\n';

 private:
  UniqueFd owned_;
  int fd_;
  std::string name_;
};

struct OutputWriter::Shared {
  using Target = std::shared_ptr<OutputTarget>;

  void Add(const Target& target, std::size_t size);
  void Run();
  void WriteNext(std::unique_lock<std::mutex>& lock, std::string& buffer);
  int WriteAll(OutputTarget& target, const std::string& buffer,
               std::uint64_t drops_before);
  int WriteSome(OutputTarget& target, std::string_view bytes,
                std::size_t& written);
  void Written(std::size_t size);
  void Break(const Target& target, int err);
  void PostEmptyIfWanted();
  void Post(std::function<void()> fn);

  explicit Shared(std::size_t half_full) : half(half_full) {}

  const std::size_t half;
  std::atomic<std::size_t> queued{0};
  std::atomic<std::uint64_t> drops{0};
  std::mutex mu;
  std::condition_variable wake;
  std::condition_variable changed;
  EventLoop* loop = nullptr;  // guarded by mu; null once the owner is gone
  Handlers handlers;          // called on the loop, while the owner lives
  std::deque<Target> queue;   // guarded by mu
  bool sleeping = false;      // guarded by mu
  bool writing = false;       // guarded by mu
  bool stop = false;          // guarded by mu
  bool ended = false;         // guarded by mu
  bool want_empty = false;    // guarded by mu
  std::weak_ptr<Shared> self;
};

// With mu held.
void OutputWriter::Shared::Add(const Target& target, std::size_t size) {
  queued += size;
  if (target->in_queue) return;
  target->in_queue = true;
  queue.push_back(target);
}

void OutputWriter::Shared::Run() {
  std::string buffer;
  std::unique_lock lock(mu);
  for (;;) {
    while (queue.empty() && !stop) {
      sleeping = true;
      wake.wait(lock);
      sleeping = false;
    }
    if (queue.empty()) break;
    WriteNext(lock, buffer);
  }
  ended = true;
  changed.notify_all();
}

void OutputWriter::Shared::WriteNext(std::unique_lock<std::mutex>& lock,
                                     std::string& buffer) {
  const Target target = std::move(queue.front());
  queue.pop_front();
  target->in_queue = false;
  buffer.clear();
  buffer.swap(target->pending);
  const bool newline =
      std::exchange(target->start_line, false) && target->last_byte != '\n';
  const std::uint64_t drops_before = drops;
  writing = true;
  lock.unlock();
  std::size_t ignored = 0;
  int err = newline ? WriteSome(*target, "\n", ignored) : 0;
  if (err == 0) err = WriteAll(*target, buffer, drops_before);
  lock.lock();
  writing = false;
  changed.notify_all();
  if (drops != drops_before) target->start_line = true;
  if (err != 0) Break(target, err);
  if (queued == 0) PostEmptyIfWanted();
}

// 0, or the errno that ends this target. Bytes not written count as written.
int OutputWriter::Shared::WriteAll(OutputTarget& target,
                                   const std::string& buffer,
                                   std::uint64_t drops_before) {
  std::string_view rest = buffer;
  int err = 0;
  while (!rest.empty() && err == 0 && drops == drops_before) {
    std::size_t n = 0;
    err = WriteSome(target, rest.substr(0, kWriteSize), n);
    rest.remove_prefix(n);
    Written(n);
  }
  Written(rest.size());
  return err;
}

int OutputWriter::Shared::WriteSome(OutputTarget& target,
                                    std::string_view bytes,
                                    std::size_t& written) {
  const ssize_t n = ::write(target.fd(), bytes.data(), bytes.size());
  if (n > 0) {
    written = static_cast<std::size_t>(n);
    target.last_byte = bytes[written - 1];
    return 0;
  }
  if (n == 0) return EIO;
  if (errno == EINTR) return 0;
  if (errno != EAGAIN) return errno;
  pollfd writable{target.fd(), POLLOUT, 0};
  ::poll(&writable, 1, kPollMs);
  return 0;
}

void OutputWriter::Shared::Written(std::size_t size) {
  if (size == 0) return;
  const std::size_t before = queued.fetch_sub(size);
  if (before < half || before - size >= half) return;
  const std::lock_guard lock(mu);
  Post([this] {
    if (handlers.on_space) handlers.on_space();
  });
}

// With mu held.
void OutputWriter::Shared::Break(const Target& target, int err) {
  if (target->broken) return;
  target->broken = true;
  queued -= target->pending.size();
  target->pending.clear();
  Post([this, target, err] {
    if (handlers.on_broken) {
      handlers.on_broken(target->name(), Error::FromErrno(target->name(), err));
    }
  });
}

// With mu held.
void OutputWriter::Shared::PostEmptyIfWanted() {
  if (!std::exchange(want_empty, false)) return;
  Post([this] {
    if (handlers.on_empty) handlers.on_empty();
  });
}

// With mu held. `fn` runs on the loop thread, which is also the only one that
// takes `loop` away.
void OutputWriter::Shared::Post(std::function<void()> fn) {
  if (loop == nullptr) return;
  loop->Post([weak = self, fn = std::move(fn)] {
    const std::shared_ptr<Shared> shared = weak.lock();
    if (shared != nullptr && shared->loop != nullptr) fn();
  });
}

OutputWriter::OutputWriter(EventLoop& loop, std::size_t full, Handlers handlers)
    : shared_(std::make_shared<Shared>(full / 2)), full_(full) {
  shared_->loop = &loop;
  shared_->handlers = std::move(handlers);
  shared_->self = shared_;
}

OutputWriter::~OutputWriter() {
  std::unique_lock lock(shared_->mu);
  shared_->loop = nullptr;
  shared_->stop = true;
  shared_->wake.notify_one();
  if (!thread_.joinable()) return;
  shared_->changed.wait_for(lock, patience_, [&] { return shared_->ended; });
  if (!shared_->ended) {
    ++shared_->drops;
    shared_->queue.clear();
    shared_->changed.wait_for(
        lock, kThreadEnd, [&] { return shared_->ended || shared_->writing; });
  }
  const bool ended = shared_->ended;
  lock.unlock();
  if (ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

std::shared_ptr<OutputTarget> OutputWriter::Borrow(int fd, std::string name) {
  return std::make_shared<OutputTarget>(fd, UniqueFd(), std::move(name));
}

std::shared_ptr<OutputTarget> OutputWriter::Own(UniqueFd fd, std::string name) {
  const int number = fd.get();
  return std::make_shared<OutputTarget>(number, std::move(fd), std::move(name));
}

void OutputWriter::Write(const std::shared_ptr<OutputTarget>& target,
                         std::string_view bytes) {
  const std::lock_guard lock(shared_->mu);
  if (target->broken || bytes.empty()) return;
  target->pending.append(bytes);
  shared_->Add(target, bytes.size());
  Wake();
}

void OutputWriter::Hand(const std::shared_ptr<OutputTarget>& target,
                        std::string& bytes) {
  const std::lock_guard lock(shared_->mu);
  if (!target->broken && !bytes.empty()) {
    shared_->Add(target, bytes.size());
    if (target->pending.empty()) {
      target->pending.swap(bytes);
    } else {
      target->pending.append(bytes);
    }
    Wake();
  }
  bytes.clear();
}

void OutputWriter::StartLine(const std::shared_ptr<OutputTarget>& target) {
  const std::lock_guard lock(shared_->mu);
  if (target->pending.empty()) {
    target->start_line = true;
  } else if (target->pending.back() != '\n') {
    target->pending += '\n';
    shared_->queued += 1;
  }
}

void OutputWriter::DropQueued() {
  const std::lock_guard lock(shared_->mu);
  ++shared_->drops;
  for (const auto& target : shared_->queue) {
    shared_->queued -= target->pending.size();
    target->pending.clear();
    target->in_queue = false;
    target->start_line = true;
  }
  shared_->queue.clear();
  if (shared_->queued == 0) shared_->PostEmptyIfWanted();
}

void OutputWriter::NotifyWhenEmpty() {
  const std::lock_guard lock(shared_->mu);
  shared_->want_empty = true;
  if (shared_->queued == 0 && !shared_->writing) shared_->PostEmptyIfWanted();
}

std::size_t OutputWriter::queued() const { return shared_->queued; }

void OutputWriter::Wake() {
  if (shared_->sleeping) {
    shared_->wake.notify_one();
    return;
  }
  if (thread_.joinable()) return;
  const AllSignalsBlocked blocked;
  try {
    thread_ = std::thread([shared = shared_] { shared->Run(); });
  } catch (const std::system_error& error) {
    for (const auto& target : shared_->queue) {
      target->in_queue = false;
      shared_->Break(target, error.code().value());
    }
    shared_->queue.clear();
    shared_->PostEmptyIfWanted();
  }
}

}  // namespace hvd
