#include "launcher/stdin_relay.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/event_loop.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

// A terminal, and whoever sits before it.
class Terminal {
 public:
  Terminal() {
    int master = -1;
    int slave = -1;
    REQUIRE(::openpty(&master, &slave, nullptr, nullptr, nullptr) == 0);
    person_.Reset(master);
    terminal_.Reset(slave);
  }
  int fd() const { return terminal_.get(); }
  void Type(std::string_view text) {
    REQUIRE(::write(person_.get(), text.data(), text.size()) ==
            static_cast<ssize_t>(text.size()));
  }
  void SetLineMode(bool on) {
    termios settings{};
    REQUIRE(::tcgetattr(fd(), &settings) == 0);
    settings.c_lflag &= ~static_cast<tcflag_t>(ICANON);
    if (on) settings.c_lflag |= ICANON;
    REQUIRE(::tcsetattr(fd(), TCSANOW, &settings) == 0);
  }
  void HangUp() { person_.Reset(); }

 private:
  UniqueFd person_;
  UniqueFd terminal_;
};

// A worker's end of its stdin.
class WorkerStdin {
 public:
  WorkerStdin(EventLoop& loop, UniqueFd fd) : loop_(loop), fd_(std::move(fd)) {
    ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
  }
  bool WaitFor(std::string_view text) {
    return Pump([&] { return text_ == text; });
  }
  bool WaitForEnd() {
    return Pump([&] { return ended_; });
  }
  void RunFor(Duration time) {
    Pump([] { return false; }, time);
  }
  void Close() { fd_.Reset(); }
  const std::string& text() const { return text_; }

 private:
  bool Pump(const std::function<bool()>& done, Duration limit = 10s) {
    Tick();
    return loop_.RunUntil(
        [&] {
          Read();
          return done();
        },
        limit);
  }
  void Read() {
    std::array<char, 4096> buffer{};
    const ssize_t n = ::read(fd_.get(), buffer.data(), buffer.size());
    if (n > 0) text_.append(buffer.data(), static_cast<std::size_t>(n));
    ended_ = ended_ || n == 0;
  }
  void Tick() {
    tick_ = loop_.After(Duration(2), [this] { Tick(); });
  }

  EventLoop& loop_;
  UniqueFd fd_;
  std::unique_ptr<Timer> tick_;
  std::string text_;
  bool ended_ = false;
};

}  // namespace

TEST_CASE("a file or pipe is handed to the worker as it is", "[launcher]") {
  EventLoop loop;
  const testing::TemporaryDirectory directory;
  const std::string path = directory.Write("input", "some input");
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  StdinRelay relay(loop, file.get());
  const Result<UniqueFd> got = relay.Attach();
  REQUIRE(got.ok());
  CHECK(got.value().get() > 2);
  // The same open file: what one reads, the other has read.
  std::array<char, 4> buffer{};
  REQUIRE(::read(got.value().get(), buffer.data(), buffer.size()) == 4);
  CHECK(::lseek(file.get(), 0, SEEK_CUR) == 4);
  CHECK((::fcntl(got.value().get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("without a stdin the worker gets /dev/null", "[launcher]") {
  EventLoop loop;
  StdinRelay relay(loop, 1'000'000);  // no descriptor
  const Result<UniqueFd> got = relay.Attach();
  REQUIRE(got.ok());
  char c = 0;
  CHECK(::read(got.value().get(), &c, 1) == 0);
}

TEST_CASE("lines typed at a terminal reach the worker, then the end",
          "[launcher]") {
  EventLoop loop;
  Terminal terminal;
  const int flags = ::fcntl(terminal.fd(), F_GETFL);
  StdinRelay relay(loop, terminal.fd());
  WorkerStdin worker(loop, relay.Attach().value());
  terminal.Type("one\n");
  CHECK(worker.WaitFor("one\n"));
  terminal.Type("two\nthr");
  CHECK(worker.WaitFor("one\ntwo\n"));
  terminal.Type("ee\n");
  CHECK(worker.WaitFor("one\ntwo\nthree\n"));
  terminal.Type("\x04");  // Ctrl-D
  CHECK(worker.WaitForEnd());
  CHECK(::fcntl(terminal.fd(), F_GETFL) == flags);
}

TEST_CASE("a worker that reads no more ends its relay, without a SIGPIPE",
          "[launcher]") {
  EventLoop loop;
  Terminal terminal;
  StdinRelay relay(loop, terminal.fd());
  WorkerStdin first(loop, relay.Attach().value());
  first.Close();
  terminal.Type("lost\n");
  first.RunFor(50ms);
  // Its next life reads on.
  WorkerStdin second(loop, relay.Attach().value());
  terminal.Type("found\n");
  CHECK(second.WaitFor("found\n"));
}

TEST_CASE("keys typed into a program in raw mode are not taken away",
          "[launcher]") {
  EventLoop loop;
  Terminal terminal;
  terminal.SetLineMode(false);
  StdinRelay relay(loop, terminal.fd());
  WorkerStdin worker(loop, relay.Attach().value());
  terminal.Type("q");
  worker.RunFor(50ms);
  CHECK(worker.text().empty());
  std::array<char, 8> buffer{};
  CHECK(::read(terminal.fd(), buffer.data(), buffer.size()) == 1);
  // Back in line mode, a SIGCONT or a second later it reads on.
  terminal.SetLineMode(true);
  relay.OnContinued();
  terminal.Type("line\n");
  CHECK(worker.WaitFor("line\n"));
}

TEST_CASE("a terminal that hangs up is the end of the input", "[launcher]") {
  EventLoop loop;
  Terminal terminal;
  StdinRelay relay(loop, terminal.fd());
  WorkerStdin worker(loop, relay.Attach().value());
  terminal.HangUp();
  CHECK(worker.WaitForEnd());
}

TEST_CASE("a worker that doesn't read does not hold up the loop",
          "[launcher]") {
  EventLoop loop;
  Terminal terminal;
  StdinRelay relay(loop, terminal.fd());
  UniqueFd unread = relay.Attach().value();
  ::fcntl(unread.get(), F_SETPIPE_SZ, 4096);
  WorkerStdin nobody(loop, UniqueFd(::open("/dev/null", O_RDONLY)));
  const std::string line(1000, 'x');
  for (int i = 0; i < 8; ++i) {
    terminal.Type(line + '\n');
    nobody.RunFor(5ms);
  }
  std::string all;
  for (int i = 0; i < 8; ++i) all += line + '\n';
  WorkerStdin worker(loop, std::move(unread));
  CHECK(worker.WaitFor(all));
}

TEST_CASE("a job in the background leaves the terminal to the shell",
          "[launcher]") {
  // `-m`: job control, so the host is in a process group of its own.
  testing::Program shell(
      {"bash", "--norc", "-c",
       "set -m; " HVD_TEST_LAUNCHER_HOST " " HVD_TEST_KEEPER
       " 1000 sh -c 'read a; echo worker-got-$a' & "
       "read line; echo shell-got-$line; fg >/dev/null; echo end-$?"},
      {.terminal = true});
  REQUIRE(shell.WaitForOutput("started"));
  shell.Type("one\n");
  REQUIRE(shell.WaitForOutput("shell-got-one"));
  shell.Type("two\n");
  REQUIRE(shell.WaitForOutput("worker-got-two"));
  CHECK(shell.WaitForOutput("end-0"));
}

TEST_CASE("a worker's exit ends the job while its terminal stays open",
          "[launcher]") {
  testing::Program host({HVD_TEST_LAUNCHER_HOST, HVD_TEST_KEEPER, "1000", "sh",
                         "-c", "read l; echo got-$l; exit 3"},
                        {.terminal = true});
  REQUIRE(host.WaitForOutput("started"));
  host.Type("hello\n");
  CHECK(host.Wait(10s).status == ExitStatus{3, 0});
  CHECK(host.out().find("got-hello") != std::string::npos);
}

}  // namespace hvd
