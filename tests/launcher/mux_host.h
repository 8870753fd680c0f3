// MuxHost: an OutputMux between pipes of the test's own: it plays the workers
// at one end and the reader of hvdrun's stdout and stderr at the other.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/unique_fd.h"
#include "launcher/output_mux.h"
#include "launcher/output_pipe.h"

namespace hvd::testing {

// What hvdrun's stdout (or stderr) leads to.
class Screen {
 public:
  Screen() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    read_.Reset(ends[0]);
    write_.Reset(ends[1]);
    ::fcntl(read_.get(), F_SETFL, O_NONBLOCK);
  }
  int fd() const { return write_.get(); }
  void Close() { read_.Reset(); }

  // What there is to read, at most `limit` bytes of it.
  void Read(std::size_t limit = std::size_t{64} << 20U) {
    std::vector<char> buffer(64U << 10U);
    while (limit > 0) {
      const ssize_t n =
          ::read(read_.get(), buffer.data(), std::min(limit, buffer.size()));
      if (n <= 0) return;
      text_.append(buffer.data(), static_cast<std::size_t>(n));
      limit -= static_cast<std::size_t>(n);
    }
  }
  const std::string& text() const { return text_; }
  bool reading = true;
  // A writer that was left behind may still be in a write to it.
  void KeepOpen() { (void)write_.Release(); }

 private:
  UniqueFd read_;
  UniqueFd write_;
  std::string text_;
};

class MuxHost {
 public:
  explicit MuxHost(OutputOptions options = {}) {
    options.stdout_fd = out.fd();
    if (options.stderr_fd == 2) options.stderr_fd = err.fd();
    auto mux = OutputMux::Start(
        loop, std::move(options),
        {.on_broken = [this](OutputStream stream, Error error) {
          broken.emplace_back(stream, error.message());
        }});
    REQUIRE(mux.ok());
    mux_ = std::move(mux).value();
  }

  // What is still queued is read first, so that no writer is left behind.
  ~MuxHost() {
    out.reading = true;
    err.reading = true;
    if (mux_ == nullptr) return;
    mux_->Abandon();
    Flush();
  }
  MuxHost(const MuxHost&) = delete;
  MuxHost& operator=(const MuxHost&) = delete;

  OutputMux& mux() { return *mux_; }
  void Destroy() {
    mux_.reset();
    out.KeepOpen();
    err.KeepOpen();
  }

  struct Worker {
    UniqueFd out;
    UniqueFd err;
  };
  // The ends that a worker of this rank would write to.
  Worker& AddWorker(int rank, int launch, Epoch epoch = Epoch{1}) {
    OutputPipe stdout_pipe = std::move(MakeOutputPipe()).value();
    OutputPipe stderr_pipe = std::move(MakeOutputPipe()).value();
    mux_->AddWorker(LaunchId{launch}, rank, epoch,
                    std::move(stdout_pipe.read_end),
                    std::move(stderr_pipe.read_end));
    Worker& worker = workers_[launch];
    worker = {std::move(stdout_pipe.write_end),
              std::move(stderr_pipe.write_end)};
    return worker;
  }

  static void Write(const UniqueFd& fd, std::string_view text) {
    REQUIRE(::write(fd.get(), text.data(), text.size()) ==
            static_cast<ssize_t>(text.size()));
  }

  bool WaitUntil(const std::function<bool()>& done,
                 std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    Tick();
    const bool held = loop.RunUntil(
        [&] {
          ReadScreens();
          return done();
        },
        std::chrono::duration_cast<Duration>(limit));
    UNSCOPED_INFO("stdout: " << out.text().substr(0, 2000));
    UNSCOPED_INFO("stderr: " << err.text().substr(0, 2000));
    return held;
  }
  bool WaitForOut(std::string_view text) {
    return WaitUntil([&] { return out.text() == text; });
  }
  bool WaitForErr(std::string_view text) {
    return WaitUntil([&] { return err.text() == text; });
  }
  // Lets the loop run for a while in which nothing should happen.
  void RunFor(std::chrono::milliseconds time) {
    WaitUntil([] { return false; }, time);
  }
  bool Flush(std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    auto done = std::make_shared<bool>(false);
    mux_->Flush([done] { *done = true; });
    return WaitUntil([done] { return *done; }, limit);
  }

  EventLoop loop;
  Screen out;
  Screen err;
  std::vector<std::pair<OutputStream, std::string>> broken;

 private:
  void ReadScreens() {
    if (out.reading) out.Read();
    if (err.reading) err.Read();
  }
  void Tick() {
    tick_ = loop.After(Duration(2), [this] { Tick(); });
  }

  std::unique_ptr<Timer> tick_;
  std::map<int, Worker> workers_;
  std::unique_ptr<OutputMux> mux_;
};

}  // namespace hvd::testing
