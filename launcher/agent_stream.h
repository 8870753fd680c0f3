// AgentStream: one gRPC stream, as a loop sees it.
//
// `Reactor` is gRPC's class of either end; both have the same calls. gRPC's
// threads run the reactions, which do little more than post to the loop. gRPC
// keeps the stream until it is done with it, which may be later than its owner.
//
// Write, AllowRead, Close and Cancel: loop thread only. Private to
// agent_server.cc and agent_client.cc.
#pragma once

#include <grpc/support/log.h>
#include <malloc.h>

#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace hvd {

// The metadata of a call that say whose agent it is; "-bin": any bytes.
inline constexpr const char* kHostMetadata = "hvd-host-bin";
inline constexpr const char* kTokenMetadata = "hvd-token-bin";

// What goes wrong is told in our words; GRPC_VERBOSITY asks for gRPC's own.
inline void KeepGrpcQuiet() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
  if (std::getenv("GRPC_VERBOSITY") != nullptr) return;
  gpr_set_log_function([](gpr_log_func_args*) {});
}

// gRPC's own is 16 KiB: a piece of output would be cut into many.
inline constexpr int kFrameBytes = 1 << 20;

// Each piece is a block of its own, at either end several times. From this size
// on malloc would get each from the kernel and give it back.
inline void KeepBlocks() {
  constexpr int kBytes = 64 << 20;
  // NOLINTBEGIN(concurrency-mt-unsafe): a limit that others read whole
  ::mallopt(M_MMAP_THRESHOLD, kBytes);
  ::mallopt(M_TRIM_THRESHOLD, kBytes);
  // NOLINTEND(concurrency-mt-unsafe)
}

using PostToLoop = std::function<void(std::function<void()>)>;

template <class Reactor, class In, class Out>
class AgentStream : public Reactor {
 public:
  // On the loop; none after Close() or Cancel().
  struct Handlers {
    std::function<void(In&&)> on_read;
    std::function<void()> on_written;  // one message of Write()
    std::function<void()> on_ended;    // nothing can be read any more
  };

  explicit AgentStream(PostToLoop post) : post_(std::move(post)) {}

  // Once, before gRPC gets it; `self` is this.
  void Keep(std::shared_ptr<AgentStream> self) { self_ = std::move(self); }
  void SetHandlers(Handlers handlers) {
    handlers_ = std::make_shared<Handlers>(std::move(handlers));
  }

  void Write(Out message) {
    {
      const std::scoped_lock lock(mu_);
      if (closing_ || broken_) return;
      out_.push_back(std::move(message));
      if (std::exchange(writing_, true)) return;
    }
    this->StartWrite(&out_.front());
  }

  // One message.
  void AllowRead() {
    {
      const std::scoped_lock lock(mu_);
      if (closing_ || broken_) return;
    }
    this->StartRead(&in_);
  }

  // After what was written has gone out, if the other end takes it.
  void Close() {
    handlers_.reset();
    {
      const std::scoped_lock lock(mu_);
      if (std::exchange(closing_, true) || writing_) return;
    }
    End();
  }

  // At once: what has not gone out is lost.
  void Cancel() {
    {
      const std::scoped_lock lock(mu_);
      if (!done_) Break();
    }
    Close();
  }

 protected:
  // Ends the call; once, when nothing is being written.
  virtual void End() = 0;
  // Makes everything in progress fail. Does not block.
  virtual void Break() = 0;

  void OnReadDone(bool ok) override {
    if (ok) {
      // One read at a time: in_ is not touched before AllowRead().
      PostHandler([this](const Handlers& handlers) {
        handlers.on_read(std::move(in_));
      });
      return;
    }
    {
      const std::scoped_lock lock(mu_);
      broken_ = true;
    }
    PostHandler([](const Handlers& handlers) { handlers.on_ended(); });
  }

  void OnWriteDone(bool ok) override {
    bool more = false;
    bool end = false;
    {
      const std::scoped_lock lock(mu_);
      out_.pop_front();
      if (!ok) {
        broken_ = true;
        out_.clear();
      }
      more = !out_.empty();
      writing_ = more;
      end = !more && closing_;
    }
    if (more) this->StartWrite(&out_.front());
    if (end) End();
    PostHandler([](const Handlers& handlers) { handlers.on_written(); });
  }

  // gRPC is done with this.
  void Release() {
    {
      const std::scoped_lock lock(mu_);
      done_ = true;
    }
    // The last owner may be this call.
    const auto self = std::exchange(self_, nullptr);
  }

 private:
  template <class Call>
  void PostHandler(Call call) {
    post_([self = self_, call] {
      // A handler may close the stream.
      const std::shared_ptr<Handlers> handlers = self->handlers_;
      if (handlers) call(*handlers);
    });
  }

  PostToLoop post_;
  std::shared_ptr<AgentStream> self_;   // until gRPC is done
  std::shared_ptr<Handlers> handlers_;  // loop thread only; null: closed
  In in_;

  std::mutex mu_;
  std::deque<Out> out_;   // guarded by mu_; the front is being written
  bool writing_ = false;  // guarded by mu_
  bool closing_ = false;  // guarded by mu_
  bool broken_ = false;   // guarded by mu_
  bool done_ = false;     // guarded by mu_
};

// The one owner of a stream: cancels it unless it was closed.
template <class Stream>
class OwnedStream {
 public:
  OwnedStream() = default;
  explicit OwnedStream(std::shared_ptr<Stream> stream)
      : stream_(std::move(stream)) {}
  OwnedStream(OwnedStream&& other) noexcept
      : stream_(std::exchange(other.stream_, nullptr)) {}
  OwnedStream& operator=(OwnedStream&& other) noexcept {
    if (this == &other) return *this;
    if (stream_) stream_->Cancel();
    stream_ = std::exchange(other.stream_, nullptr);
    return *this;
  }
  ~OwnedStream() {
    if (stream_) stream_->Cancel();
  }

  explicit operator bool() const { return stream_ != nullptr; }
  Stream* operator->() const { return stream_.get(); }
  void Close() {
    if (const auto stream = std::exchange(stream_, nullptr)) stream->Close();
  }

 private:
  std::shared_ptr<Stream> stream_;
};

}  // namespace hvd
