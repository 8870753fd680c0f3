// What OutputMux does when bytes come faster than they go: full queues, readers
// that are slow, stuck or gone, workers that have ended.
#include <fcntl.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "base/process.h"
#include "tests/launcher/mux_host.h"
#include "tests/launcher/worker_host.h"
#include "tests/support/lines.h"

using namespace std::chrono_literals;

namespace hvd {

using testing::MuxHost;

namespace {

// Writes what the pipe takes, whole lines "<n> xxx\n"; the next n.
class LineSource {
 public:
  explicit LineSource(const UniqueFd& fd) : fd_(fd.get()) {
    ::fcntl(fd_, F_SETFL, O_NONBLOCK);
  }
  void WriteSome() {
    for (;;) {
      if (rest_.empty()) {
        rest_ = std::to_string(next_) + std::string(100, 'x') + '\n';
      }
      const ssize_t n = ::write(fd_, rest_.data(), rest_.size());
      if (n <= 0) return;
      rest_.erase(0, static_cast<std::size_t>(n));
      if (rest_.empty()) ++next_;
    }
  }
  int written() const { return next_; }

 private:
  int fd_;
  int next_ = 0;
  std::string rest_;
};

// Lets a source write until `rounds` rounds of the loop brought nothing more.
int WriteUntilBlocked(MuxHost& host, LineSource& source) {
  int before = -1;
  while (source.written() != before) {
    before = source.written();
    for (int i = 0; i < 20; ++i) {
      source.WriteSome();
      host.RunFor(2ms);
    }
  }
  return before;
}

bool AreNumbered(const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] != std::to_string(i) + std::string(100, 'x')) return false;
  }
  return true;
}

// A worker with the same numbers from process to process.
LaunchId LaunchInto(testing::WorkerHost& workers, OutputMux& mux, int rank,
                    const std::string& script) {
  OutputPipe out = std::move(MakeOutputPipe()).value();
  OutputPipe err = std::move(MakeOutputPipe()).value();
  const LaunchId id{rank};
  mux.AddWorker(id, rank, Epoch{1}, std::move(out.read_end),
                std::move(err.read_end));
  workers.launcher().Launch(id, {.argv = {"sh", "-c", script},
                                 .env = testing::WorkerHost::DefaultEnv(),
                                 .cwd = "/",
                                 .stdin_fd = OpenDevNull().value(),
                                 .stdout_fd = std::move(out.write_end),
                                 .stderr_fd = std::move(err.write_end)});
  return id;
}

// Runs `count` workers to their ends and drains each as hvdrun does, while the
// reader takes its time.
std::string OutputOfWorkers(int count, const std::string& script) {
  testing::WorkerHost workers;
  testing::Screen screen;
  testing::Screen err;
  auto started = OutputMux::Start(
      workers.loop(), {.stdout_fd = screen.fd(), .stderr_fd = err.fd()}, {});
  REQUIRE(started.ok());
  OutputMux& mux = *started.value();
  for (int rank = 0; rank < count; ++rank) {
    LaunchInto(workers, mux, rank, script);
  }
  std::size_t drained = 0;
  bool flushed = false;
  const auto pump = [&] {
    screen.Read(256U << 10U);  // each time the loop looks up
    if (workers.exits().size() > drained) {
      for (const auto& [id, status] : workers.exits()) mux.Drain(id);
      drained = workers.exits().size();
      if (drained == static_cast<std::size_t>(count)) {
        mux.Flush([&] { flushed = true; });
      }
    }
    return flushed;
  };
  REQUIRE(workers.WaitUntil(pump, 60s));
  screen.Read();
  return screen.text();
}

}  // namespace

TEST_CASE("no line is lost of workers that end at once", "[launcher]") {
  const std::string end = GENERATE("exit 0", "kill -9 $$");
  CAPTURE(end);
  const std::string text = OutputOfWorkers(8, "seq 1 50000; echo end; " + end);
  for (int rank = 0; rank < 8; ++rank) {
    const auto lines =
        testing::LinesOf(text, '[' + std::to_string(rank) + "]<stdout>:");
    REQUIRE(lines.size() == 50'001);
    for (std::size_t i = 0; i < 50'000; ++i) {
      REQUIRE(lines[i] == std::to_string(i + 1));
    }
    CHECK(lines.back() == "end");
  }
  CHECK(testing::Lines(text).size() == 8 * 50'001);
}

TEST_CASE("a reader that doesn't read stops the workers' writes and no more",
          "[launcher]") {
  MuxHost host;
  LineSource chatty(host.AddWorker(0, 0).out);
  auto& other = host.AddWorker(1, 1);
  host.out.reading = false;
  const int blocked_at = WriteUntilBlocked(host, chatty);
  CHECK(blocked_at > 1000);
  // The queue, one more buffer and what a pipe holds; not what came.
  CHECK(host.mux().QueuedBytes() < (3U << 20U));
  // stderr goes on, and so do exits.
  MuxHost::Write(other.err, "still here\n");
  host.mux().PrintLine("hvdrun: and so am I");
  CHECK(host.WaitUntil([&] {
    return host.err.text() == "hvdrun: and so am I\n[1]<stderr>:still here\n";
  }));
  // Nothing was lost when it reads again.
  host.out.reading = true;
  REQUIRE(host.WaitUntil([&] {
    return testing::Lines(host.out.text()).size() >=
           static_cast<std::size_t>(blocked_at);
  }));
  auto lines = testing::LinesOf(host.out.text(), "[0]<stdout>:");
  lines.resize(static_cast<std::size_t>(blocked_at));
  CHECK(AreNumbered(lines));
}

TEST_CASE("what an ended worker wrote is taken whoever holds its pipe",
          "[launcher]") {
  MuxHost host;
  auto& worker = host.AddWorker(0, 0);
  MuxHost::Write(worker.out, "last line\nand a half");
  MuxHost::Write(worker.err, "cause\n");
  // The test is the grandchild that never closes.
  host.mux().Drain(LaunchId{0});
  CHECK(host.mux().LastStderr(LaunchId{0}) ==
        std::vector<std::string>{"cause"});
  REQUIRE(host.Flush());
  CHECK(host.out.text() == "[0]<stdout>:last line\n[0]<stdout>:and a half");
  // It may still say something while the job goes on.
  MuxHost::Write(worker.out, "\nsaved\n");
  CHECK(
      host.WaitForOut("[0]<stdout>:last line\n[0]<stdout>:and a half\n"
                      "[0]<stdout>:saved\n"));
}

TEST_CASE("what an ended worker wrote is taken while nobody reads",
          "[launcher]") {
  MuxHost host;
  host.out.reading = false;
  auto& worker = host.AddWorker(0, 0);
  LineSource chatty(worker.out);
  WriteUntilBlocked(host, chatty);
  MuxHost::Write(worker.err, "cause\n");
  host.mux().Drain(LaunchId{0});
  CHECK(host.mux().LastStderr(LaunchId{0}) ==
        std::vector<std::string>{"cause"});
  CHECK_FALSE(host.Flush(50ms));
  host.out.reading = true;
  REQUIRE(host.Flush());
  const auto lines = testing::LinesOf(host.out.text(), "[0]<stdout>:");
  CHECK(lines.size() >= static_cast<std::size_t>(chatty.written()));
}

TEST_CASE("a reader that is gone is told once, and the workers go on",
          "[launcher]") {
  MuxHost host;
  LineSource chatty(host.AddWorker(0, 0).out);
  host.out.Close();
  host.out.reading = false;
  CHECK(host.WaitUntil([&] {
    chatty.WriteSome();
    return chatty.written() > 100'000;
  }));
  REQUIRE(host.broken.size() == 1);
  CHECK(host.broken[0].first == OutputStream::kStdout);
  CHECK(host.broken[0].second == "stdout: Broken pipe");
  CHECK(host.mux().broken(OutputStream::kStdout));
  CHECK_FALSE(host.mux().broken(OutputStream::kStderr));
  host.mux().PrintLine("hvdrun: nobody reads stdout");
  REQUIRE(host.Flush());
  CHECK(host.err.text() == "hvdrun: nobody reads stdout\n");
}

TEST_CASE("a closed stdout is a broken one", "[launcher]") {
  EventLoop loop;
  testing::Screen err;
  std::vector<std::string> broken;
  // A number that is no descriptor of this process.
  auto mux =
      OutputMux::Start(loop, {.stdout_fd = 1'000'000, .stderr_fd = err.fd()},
                       {.on_broken = [&](OutputStream, Error error) {
                         broken.push_back(error.message());
                       }});
  REQUIRE(mux.ok());
  mux.value()->PrintWorkerLog(0, Epoch{1}, "hello");
  REQUIRE(loop.RunUntil([&] { return !broken.empty(); }, 10s));
  CHECK(broken == std::vector<std::string>{"stdout: Bad file descriptor"});
}

TEST_CASE("inherited descriptors keep their flags", "[launcher]") {
  MuxHost host;
  // Someone before us made stderr non-blocking; it must stay so, and work.
  REQUIRE(::fcntl(host.err.fd(), F_SETFL, O_NONBLOCK) == 0);
  const int out_flags = ::fcntl(host.out.fd(), F_GETFL);
  const int err_flags = ::fcntl(host.err.fd(), F_GETFL);
  auto& worker = host.AddWorker(0, 0);
  LineSource chatty(worker.err);
  host.err.reading = false;
  WriteUntilBlocked(host, chatty);
  host.err.reading = true;
  REQUIRE(host.Flush());
  CHECK(host.err.text().size() > (200U << 10U));
  CHECK(::fcntl(host.out.fd(), F_GETFL) == out_flags);
  CHECK(::fcntl(host.err.fd(), F_GETFL) == err_flags);
}

TEST_CASE("hvdrun's own lines find room behind queued output, up to a limit",
          "[launcher]") {
  MuxHost host;
  LineSource chatty(host.AddWorker(0, 0).err);
  host.err.reading = false;
  WriteUntilBlocked(host, chatty);
  host.mux().PrintLine("hvdrun: first");
  const std::string line = "hvdrun: " + std::string(1000, 'y');
  for (int i = 0; i < 1000; ++i) host.mux().PrintLine(line);
  CHECK(host.mux().QueuedBytes() < (3U << 20U));
  host.err.reading = true;
  REQUIRE(host.Flush());
  host.mux().PrintLine("hvdrun: last");
  REQUIRE(host.Flush());
  const auto own = testing::LinesOf(host.err.text(), "hvdrun: ");
  CHECK(own.front() == "first");
  CHECK(own.back() == "last");
  CHECK(own.size() > 200);
  CHECK(own.size() < 400);
  CHECK(own[own.size() - 2].ends_with(
      "lines of its own were dropped here: nobody read them"));
}

TEST_CASE("Flush waits for the reader until Abandon drops what is queued",
          "[launcher]") {
  MuxHost host;
  LineSource chatty(host.AddWorker(0, 0).out);
  host.out.reading = false;
  WriteUntilBlocked(host, chatty);
  CHECK_FALSE(host.Flush(50ms));
  host.mux().Abandon();
  // What the pipe and one write held is all that ever comes.
  CHECK(host.mux().QueuedBytes() <= (128U << 10U) + (1U << 20U));
  host.mux().PrintLine("hvdrun: stopped by SIGINT");
  CHECK(host.WaitForErr("hvdrun: stopped by SIGINT\n"));
  const Instant begin = host.loop.Now();
  host.Destroy();
  CHECK(host.loop.Now() - begin < 2s);
}

TEST_CASE("what follows an abandoned line starts a new one", "[launcher]") {
  MuxHost host;
  LineSource chatty(host.AddWorker(0, 0).err);
  host.err.reading = false;
  WriteUntilBlocked(host, chatty);
  host.mux().Abandon();
  host.mux().PrintLine("hvdrun: stopped");
  host.err.reading = true;
  REQUIRE(host.Flush());
  CHECK(testing::Lines(host.err.text()).back() == "hvdrun: stopped");
  CHECK(host.err.text().size() < (1U << 20U));
}

TEST_CASE("an OutputMux that is stuck or idle is destroyed in no time",
          "[launcher]") {
  const bool stuck = GENERATE(false, true);
  CAPTURE(stuck);
  MuxHost host;
  if (stuck) {
    LineSource chatty(host.AddWorker(0, 0).out);
    host.out.reading = false;
    WriteUntilBlocked(host, chatty);
  }
  const Instant begin = host.loop.Now();
  host.Destroy();
  CHECK(host.loop.Now() - begin < 2s);
}

}  // namespace hvd
